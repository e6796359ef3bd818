"""The schema `live`: leases, contacts, registrations and snapshots, with their functions."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.simulation.database.server import Server
    from tests.simulation.database.session import Session


@dataclass
class _Lease:
    epoch: int
    holder: str
    session: Session
    renewed_at: datetime
    seconds: float


class SnapshotPiece(NamedTuple):
    number: int
    is_last: bool
    code: str
    position: int
    content: bytes

    def is_whole_with(self, pieces: int) -> bool:
        return self.is_last and self.number + 1 == pieces

    def is_good_for(self, code: str, upto: int) -> bool:
        return self.code == code and self.position <= upto


@dataclass
class _Registration:
    instance: str
    # The systems that are named, each with the digest of the first part that names it.
    systems: dict[str, bytes] = field(default_factory=dict)
    running: dict[tuple[str, int], None] = field(default_factory=dict)


class LiveTables:
    def __init__(self, server: Server) -> None:
        # (name, attempt) -> pieces in order.
        self.snapshots: dict[tuple[str, str], list[SnapshotPiece]] = {}
        self.contacts: dict[str, datetime] = {}
        self._registrations: dict[str, _Registration] = {}
        # Pairs of a lab controller and an instance.
        self._replaced_registrations: set[tuple[str, str]] = set()
        self._server = server
        self._leases: dict[str, _Lease] = {}

    def take_lease(self, session: Session, params: Any) -> list[tuple[Any, ...]]:
        name, holder, seconds = params
        if self._server.locks.setdefault(name, session) is not session:
            return [(None,)]
        epoch = self._server.log.next_epoch(name)
        self._leases[name] = _Lease(epoch, holder, session, self._server.loop.now(), seconds)
        return [(epoch,)]

    def renew_lease(self, _: Session, params: Any) -> list[tuple[Any, ...]]:
        name, epoch = params
        lease = self._leases.get(name)
        if lease is None or lease.epoch != epoch:
            return []
        lease.renewed_at = self._server.loop.now()
        return [(True,)]

    def end_hung_holder(self, _: Session, params: Any) -> list[tuple[Any, ...]]:
        """End the session of a holder that has not renewed its lease, which releases the lock."""
        (name,) = params
        lease = self._leases.get(name)
        if lease is None or self._server.locks.get(name) is not lease.session:
            return [(None,)]
        if lease.renewed_at + timedelta(seconds=lease.seconds) >= self._server.loop.now():
            return [(None,)]
        self._server.end_session(lease.session)
        return [(lease.holder,)]

    def newest_snapshot(self, name: str, code: str, upto: int) -> list[tuple[Any, ...]]:
        whole = [
            (rows[-1].position, attempt, len(rows))
            for (owner, attempt), rows in self.snapshots.items()
            if owner == name and rows[-1].is_whole_with(len(rows)) and rows[-1].is_good_for(code, upto)
        ]
        newest = max(whole, key=lambda each: each[0], default=None)
        return [] if newest is None else [newest[1:]]

    def snapshot_pieces(self, name: str, attempt: str, first: int, after: int) -> list[tuple[Any, ...]]:
        rows = self.snapshots.get((name, attempt), [])
        return [(row.content,) for row in rows if first <= row.number < after]

    def save_snapshot_pieces(
        self, name: str, attempt: str, code: str, position: int, *columns: Sequence[Any]
    ) -> list[tuple[Any, ...]]:
        pieces = self.snapshots.setdefault((name, attempt), [])
        present = {piece.number for piece in pieces}
        new = [row for row in zip(*columns, strict=True) if row[0] not in present]
        pieces += [
            SnapshotPiece(number, is_last, code, position, content) for number, is_last, content in new
        ]
        return [(number,) for number, *_ in new]

    def delete_older_snapshots(
        self, name: str, position: int, code: str, span: int, reach: int
    ) -> list[tuple[Any, ...]]:
        last = [rows[-1] for (owner, _), rows in self.snapshots.items() if owner == name]
        first: dict[int, int] = {}
        for piece in sorted(last, key=lambda piece: piece.position):
            if piece.is_last and piece.code == code and piece.position > position - reach:
                first.setdefault(piece.position // span, piece.position)
        older = [
            key
            for key, rows in self.snapshots.items()
            if key[0] == name and rows[-1].position < position
            if rows[-1].code != code or first.get(rows[-1].position // span) != rows[-1].position
        ]
        return [(number,) for key in older for number, _ in enumerate(self.snapshots.pop(key))]

    def heard(self, _: Session, params: Any) -> list[tuple[Any, ...]]:
        (lab_controller,) = params
        self.contacts[lab_controller] = self._server.loop.now()
        return [(self.contacts[lab_controller],)]

    def note_registration(
        self,
        lab: str,
        instance: str,
        part: bytes,
        systems: list[str],
        running: list[str],
        recipe_ids: list[int],
    ) -> list[tuple[Any, ...]]:
        present = self._registrations.get(lab)
        if (lab, instance) in self._replaced_registrations and present is not None:
            return [(present.instance, None)]
        if present is not None and present.instance != instance:
            self._replaced_registrations.add((lab, present.instance))
        if present is None or present.instance != instance:
            present = self._registrations[lab] = _Registration(instance)
        for fqdn in systems:
            present.systems.setdefault(fqdn, part)
        present.running.update(dict.fromkeys(zip(running, recipe_ids, strict=True)))
        return [(None, [fqdn for fqdn in systems if present.systems[fqdn] != part])]

    def registered_running(self, lab: str, instance: str) -> list[tuple[Any, ...]]:
        present = self._registrations.get(lab)
        if present is None or present.instance != instance:
            return []
        return list(present.running) or [(None, None)]

    def last_heard(self, *_: Any) -> list[tuple[Any, ...]]:
        now = self._server.loop.now()
        return [(now, *contact) for contact in self.contacts.items()] or [(now, None, None)]
