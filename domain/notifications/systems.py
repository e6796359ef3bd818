"""Notices of broken systems and silent labs, which follow from single events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from domain.directory.events import LabControllerSilent
from domain.events import Event, Recorded, split_subject
from domain.notifications.kinds import LAB_SILENT, SYSTEM_BROKEN
from domain.notifications.notice import Notice
from domain.system.events import SystemConditionChanged, SystemOwnerChanged, SystemRegistered
from domain.system.lifecycle import BROKEN

FOLDED_EVENTS: Final[tuple[type[Event], ...]] = (SystemRegistered, SystemOwnerChanged)


@dataclass
class SystemOwners:
    """The owners of systems, each since a position. Mutable: `apply` the events of the log in order."""

    _owners: dict[str, tuple[str, int]] = field(default_factory=dict)

    def stored(self) -> Mapping[str, tuple[str, int]]:
        """Return the owners as values for JSON, from which `restored` returns the same."""
        return self._owners

    @classmethod
    def restored(cls, owners: Mapping[str, Sequence[Any]]) -> SystemOwners:
        return cls({system: (owner, since) for system, (owner, since) in owners.items()})

    def apply(self, recorded: Recorded) -> Notice | None:
        """Apply an event; return the notice that follows from it, if any."""
        event = recorded.event
        _, name = split_subject(recorded.subject)
        if isinstance(event, SystemRegistered | SystemOwnerChanged):
            self._owners[name] = event.owner, recorded.position
        elif isinstance(event, SystemConditionChanged) and event.condition == BROKEN:
            return self._broken(name, event, recorded)
        elif isinstance(event, LabControllerSilent):
            return _silent(name, recorded)
        return None

    def _broken(self, fqdn: str, event: SystemConditionChanged, recorded: Recorded) -> Notice | None:
        if fqdn not in self._owners:
            return None
        owner, since = self._owners[fqdn]
        data = {"system": fqdn, "owner": owner, "reason": event.reason}
        title = f"System {fqdn} is broken: {event.reason}"
        position, time = recorded.position, recorded.recorded_at
        return Notice(SYSTEM_BROKEN, position, time, time, recorded.subject, title, data, (owner,), since)


def _silent(lab: str, recorded: Recorded) -> Notice:
    title = f"Lab controller {lab} is silent: its systems get no recipes until it reports again"
    position, time = recorded.position, recorded.recorded_at
    return Notice(
        LAB_SILENT, position, time, time, recorded.subject, title, {"lab_controller": lab}, None, position
    )
