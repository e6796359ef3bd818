"""The schema `live`: leases as its functions take and end them, contacts, snapshots."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.simulation.database.server import Server
    from tests.simulation.database.session import Session


@dataclass
class _Lease:
    epoch: int
    holder: str
    session: Session
    renewed_at: datetime
    seconds: float


class LiveTables:
    def __init__(self, server: Server) -> None:
        self.snapshots: dict[str, tuple[str, int, bytes]] = {}
        self.contacts: dict[str, datetime] = {}
        self._server = server
        self._leases: dict[str, _Lease] = {}

    def take_lease(self, session: Session, params: Any) -> list[tuple[Any, ...]]:
        name, holder, seconds = params
        if self._server.locks.setdefault(name, session) is not session:
            return [(None,)]
        epochs = self._server.log.epochs
        epochs[name] = epochs.get(name, 0) + 1
        self._leases[name] = _Lease(epochs[name], holder, session, self._server.loop.now(), seconds)
        return [(epochs[name],)]

    def renew_lease(self, _: Session, params: Any) -> list[tuple[Any, ...]]:
        name, epoch = params
        lease = self._leases.get(name)
        if lease is None or lease.epoch != epoch:
            return []
        lease.renewed_at = self._server.loop.now()
        return [(True,)]

    def end_hung_holder(self, _: Session, params: Any) -> list[tuple[Any, ...]]:
        """Its session is ended, and with it goes the lock."""
        (name,) = params
        lease = self._leases.get(name)
        if lease is None or self._server.locks.get(name) is not lease.session:
            return [(None,)]
        if lease.renewed_at + timedelta(seconds=lease.seconds) >= self._server.loop.now():
            return [(None,)]
        self._server.forget(lease.session)
        return [(lease.holder,)]

    def snapshot(self, _: Session, params: Any) -> list[tuple[Any, ...]]:
        name, code, upto = params
        kept = self.snapshots.get(name)
        return [(kept[2],)] if kept is not None and kept[0] == code and kept[1] <= upto else []

    def save_snapshot(self, _: Session, params: Any) -> list[tuple[Any, ...]]:
        name, code, position, content = params
        self.snapshots[name] = (code, position, content)
        return [(position,)]

    def heard(self, _: Session, params: Any) -> list[tuple[Any, ...]]:
        lab_controller, moment = params
        before = self.contacts.get(lab_controller, moment)
        self.contacts[lab_controller] = max(before, moment)
        return [(self.contacts[lab_controller],)]

    def last_heard(self, *_: Any) -> list[tuple[Any, ...]]:
        return list(self.contacts.items())
