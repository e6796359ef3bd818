"""The invariant of pending systems: a system that recipes may get is pending before it becomes idle."""

from __future__ import annotations

from replay.audit.affected import Affected
from replay.audit.invariant import Invariant, Violations
from replay.audit.record import Commit, EventRecord
from replay.audit.tables import FREE
from replay.audit.world import FoldedWorld

EASED = ("system.registered", "system.condition-changed", "system.undrained", "system.vacated")


class TheQueueIsAsked(Invariant):
    """A freed, Automated, undrained or vacated system is pending first if recipes may get it (design 2)."""

    name = "the_queue_is_asked"
    topics = (*EASED, "system.idle")

    def __init__(self) -> None:
        self._eased: dict[str, EventRecord] = {}

    def check_event(self, world: FoldedWorld, record: EventRecord) -> Violations:
        system = world.systems.get(record.name)
        is_freed = record.topic == "system.idle" and system is not None and system.usage not in FREE
        if record.topic in EASED or is_freed:
            self._eased[record.name] = record
        yield from ()

    def check_commit(self, world: FoldedWorld, commit: Commit, affected: Affected) -> Violations:
        if not self._eased:
            return
        eased, self._eased = self._eased, {}
        pending = {record.name for record in commit.records if record.topic == "system.pending"}
        for fqdn, record in eased.items():
            system = world.systems.get(fqdn)
            if system is None:
                continue
            is_available = system.takes_recipes and not system.reserved
            if is_available and system.usage in FREE and fqdn not in pending:
                what = f"{record.topic}: it is {system.usage}, but was not pending first"
                yield self.violation([record.position], [record.subject], what)
