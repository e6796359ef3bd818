"""The log as it grows, judged commit by commit by the checker, which shares nothing with what wrote it."""

from __future__ import annotations

from api.store.event_log import EventLog
from domain.events import Recorded
from domain.scheduling.partition import Partition
from tests.checker import Record, Violation, assert_at_rest, could_run, from_recorded
from tests.checker.check import Pass, fail_on, invariants
from tests.checker.record import commits
from tests.checker.world import World


class Watched:
    """`look` takes in what is new. `world` is the lab as the checker reads it from the log."""

    def __init__(self, log: EventLog) -> None:
        self.world = World()
        self.recorded: list[Recorded] = []
        self.records: list[Record] = []
        self.violations: list[Violation] = []
        self._log = log
        self._judged = Pass(invariants(could_run))

    @property
    def position(self) -> int:
        return self.recorded[-1].position if self.recorded else 0

    def look(self) -> World:
        """Raises AssertionError as soon as something in the log is wrong."""
        for commit in commits(self._news()):
            self.violations += self._judged.take(commit)
            self.world.apply_all(commit)
        fail_on(self.violations)
        return self.world

    def _news(self) -> list[Record]:
        found: list[Recorded] = []
        after, end = self.position, self._log.end()
        while after < end:
            part, after = self._log.select(after, end, 1_000)
            found += part
        self.recorded += found
        records = list(from_recorded(found))
        self.records += records
        return records

    def at_rest(self) -> None:
        """The scheduler says that it is done."""
        self.look()
        assert_at_rest(self.records)

    def folded(self) -> Partition:
        """What a scheduler that has just begun makes of the log."""
        partition = Partition()
        for recorded in self.recorded:
            partition.apply(recorded)
        return partition
