"""A growing log, checked commit by commit by the audit, which shares no code with the writers."""

from __future__ import annotations

from domain.events import Recorded
from domain.scheduling.world.partition import Partition
from replay.audit import Audit, EventRecord, Violation, from_recorded
from replay.audit.world import FoldedWorld
from replay.verify.recorded_decisions import commits
from store.event_log import EventLog
from tests.replay.audit.sound import fail_on


class Watched:
    """A log under audit; `look` reads new commits. `world` is the state that the audit has folded."""

    def __init__(self, log: EventLog) -> None:
        self.recorded: list[Recorded] = []
        self.violations: list[Violation] = []
        self._log = log
        self._audit = Audit()

    @property
    def world(self) -> FoldedWorld:
        return self._audit.world

    @property
    def records(self) -> list[EventRecord]:
        return list(from_recorded(self.recorded))

    @property
    def position(self) -> int:
        return self.recorded[-1].position if self.recorded else 0

    def look(self) -> FoldedWorld:
        """Check the new commits. Raises AssertionError for a violation."""
        for commit in commits(self._news()):
            self.violations += self._audit.take(commit)
        fail_on(self.violations)
        return self.world

    def _news(self) -> list[Recorded]:
        found: list[Recorded] = []
        after, end = self.position, self._log.end()
        while after < end:
            part, after = self._log.select(after, end, 1_000)
            found += part
        self.recorded += found
        return found

    def at_rest(self) -> None:
        """Check the state in which the scheduler has nothing left to decide."""
        self.look()
        fail_on(list(self._audit.at_rest()))

    def folded(self) -> Partition:
        """Return the partition of a scheduler that has just begun."""
        partition = Partition()
        for recorded in self.recorded:
            partition.apply(recorded)
        return partition
