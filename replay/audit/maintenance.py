"""Maintenance windows: the scheduler drains their systems only in their time, and overrides no person."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from replay.audit.invariant import Invariant, Violation, Violations
from replay.audit.record import EventRecord
from replay.audit.times import time_of
from replay.audit.world import FoldedWorld

WINDOW = "maintenance-window"
CAUSE = "timer/maintenance/"
PERSON = "person"


class MaintenanceInTime(Invariant):
    """A window drains a system once, in its time, and ends that later; other causes keep it draining."""

    name = "maintenance_in_time"
    topics = (
        *(f"{WINDOW}.{verb}" for verb in ("added", "moved", "ended")),
        *(f"system.{verb}" for verb in ("drained", "undrained", "maintenance-ended")),
    )

    def __init__(self) -> None:
        # Number -> the properties of a window.
        self._windows: dict[str, Mapping[str, Any]] = {}
        # System -> the windows that have drained it and are not over, and what keeps it draining.
        self._begun: defaultdict[str, set[str]] = defaultdict(set)
        self._causes: defaultdict[str, set[str]] = defaultdict(set)

    def check_event(self, world: FoldedWorld, record: EventRecord) -> Violations:
        if record.kind == WINDOW:
            self._windows[record.name] = {**self._windows.get(record.name, {}), **record.data}
        elif record.event_name == "undrained":
            if record.cause.startswith(CAUSE) and self._causes[record.name]:
                yield self._fault(record, f"undrained, but drained by {self._drained_by(record.name)}")
            self._causes.pop(record.name, None)
        elif record.data.get("window") is None:
            self._causes[record.name].add(PERSON)
        else:
            yield from self._of_window(record, str(record.data["window"]))

    def _of_window(self, record: EventRecord, number: str) -> Violations:
        begins, is_begun = record.event_name == "drained", number in self._begun[record.name]
        if record.cause != CAUSE + number:
            yield self._fault(record, f"{record.event_name} by window {number} because of {record.cause}")
        elif begins == is_begun:
            had = "had already" if is_begun else "had not"
            yield self._fault(record, f"{record.event_name}: window {number} {had} drained it")
        elif begins != self._is_time(number, time_of(record.now)):
            yield self._fault(record, f"{record.event_name} by window {number} at {record.now}")
        if begins:
            self._begun[record.name].add(number)
            self._causes[record.name].add(number)
        else:
            self._begun[record.name].discard(number)
            self._causes[record.name].discard(number)

    def _is_time(self, number: str, now: datetime | None) -> bool:
        window = self._windows.get(number)
        if window is None or now is None or "ended_at" in window:
            return False
        starts_at, ends_at = time_of(window["starts_at"]), time_of(window["ends_at"])
        assert starts_at is not None and ends_at is not None, "a window has times"
        return starts_at - timedelta(seconds=window["lead_seconds"]) <= now < ends_at

    def _drained_by(self, fqdn: str) -> str:
        return ", ".join(sorted(self._causes[fqdn]))

    def _fault(self, record: EventRecord, what: str) -> Violation:
        return self.violation([record.position], [record.subject], what)
