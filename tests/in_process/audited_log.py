"""The log as it grows, judged commit by commit by the audit, which shares nothing with what wrote it."""

from __future__ import annotations

from domain.events import Recorded
from domain.scheduling.world.partition import Partition
from replay.audit import Audit, EventRecord, Violation, from_recorded
from replay.audit.world import FoldedWorld
from replay.verify.recorded_decisions import commits
from store.event_log import EventLog
from tests.replay.audit.sound import fail_on


class Watched:
    """`look` takes in what is new. `world` is the lab as the audit reads it from the log."""

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
        """Raises AssertionError as soon as something in the log is wrong."""
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
        """The scheduler says that it is done."""
        self.look()
        fail_on(list(self._audit.at_rest()))

    def folded(self) -> Partition:
        """What a scheduler that has just begun makes of the log."""
        partition = Partition()
        for recorded in self.recorded:
            partition.apply(recorded)
        return partition
