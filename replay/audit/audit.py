"""The audit: one pass over a log, which folds the log, and the view of each scheduler at its decisions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from replay.audit.invariant import Violation, Violations
from replay.audit.log_check import LogCheck
from replay.audit.partition_audit import PartitionAudit
from replay.audit.policy_rules import log_invariants
from replay.audit.quiescence import violations_at_rest
from replay.audit.record import Commit, EventRecord, Recorded, commits, record_of
from replay.audit.scheduler_view import SchedulerView
from replay.audit.system_matcher import SystemMatcher
from replay.audit.tables import DEFAULT_PARTITION
from replay.audit.world import FoldedWorld


class Audit:
    """Checks the commits of one log, which are passed in order from the first. Mutable.

    `world` is the state of the log. Each partition is judged by itself, from the first event that names it.
    """

    def __init__(self) -> None:
        self.commits = 0
        self._log = LogCheck(log_invariants())
        self._partitions = {DEFAULT_PARTITION: PartitionAudit(DEFAULT_PARTITION, self.world)}

    @property
    def world(self) -> FoldedWorld:
        return self._log.world

    @property
    def decisions(self) -> int:
        """Return the number of decisions that were checked against the view of their scheduler."""
        return sum(partition.decisions for partition in self._partitions.values())

    @property
    def other_policies(self) -> Counter[int]:
        """Return the number of decisions of unknown policy versions, whose events alone are checked."""
        return sum((partition.other_policies for partition in self._partitions.values()), Counter[int]())

    def take(self, commit: Sequence[Recorded]) -> Iterator[Violation]:
        """Yield the violations of a commit. The caller must exhaust the iterator."""
        return self.check_commit(Commit(tuple(map(record_of, commit))))

    def at_rest(self) -> Iterator[Violation]:
        """Yield the violations at the end of the log, provided that nothing is left to decide."""
        for partition in self._partitions.values():
            yield from partition.at_rest()

    def check_commit(self, commit: Commit) -> Violations:
        """Yield the violations of a commit. The caller must exhaust the iterator."""
        self.commits += 1
        for number in commit.partitions:
            if number not in self._partitions:
                self._partitions[number] = PartitionAudit(number, self.world)
        if commit.decisions:
            yield from self._partitions[commit.decisions[0].partition].check_decisions(commit)
        yield from self._log.check_commit(commit)
        for partition in self._partitions.values():
            partition.add(commit)


def check(records: Iterable[EventRecord]) -> list[Violation]:
    """Return every violation of a log that is complete from its first event."""
    audit = Audit()
    return [violation for commit in commits(records) for violation in audit.check_commit(commit)]


def at_rest(records: Iterable[EventRecord]) -> list[Violation]:
    """Return the violations at the end of a log, provided that every trigger in it is answered.

    The age of a set counts up to the last decision of its partition.
    """
    log = list(records)
    numbers = {number for commit in commits(log) for number in commit.partitions}
    return [
        violation for number in sorted(numbers | {DEFAULT_PARTITION}) for violation in _at_rest(number, log)
    ]


def _at_rest(partition: int, log: Sequence[EventRecord]) -> Iterator[Violation]:
    view = SchedulerView(partition)
    for record in log:
        view.apply(record)
        if record.owning_partition == partition:
            view.now = record.now or view.now
    return violations_at_rest(view, SystemMatcher(view))
