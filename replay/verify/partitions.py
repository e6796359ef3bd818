"""Recomputation of the decisions of all partitions of a log, each from what its scheduler reads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence

from domain.events import Recorded
from domain.partition_numbers import DEFAULT_PARTITION, EVERYBODY, PartitionIdentity
from domain.scheduling.world.lab_moves import History, no_history
from replay.verify.recomputation import DecisionDifference, Recomputation, RecomputationCounts
from replay.verify.recorded_decisions import DecidedCommit, commits, decided


class PartitionRecomputations:
    """Recomputes the commits of all partitions, which are passed in log order from the first. Mutable.

    `others` are the partitions beside `default` that the log creates: the scheduler of each reads the log
    from its beginning. A partition that was never created decides nothing, so each of its decisions differs.
    """

    def __init__(self, others: Iterable[PartitionIdentity] = (), history: History = no_history) -> None:
        self.of = {
            identity.number: Recomputation(identity, history) for identity in (DEFAULT_PARTITION, *others)
        }
        self._unread = RecomputationCounts()

    def take_all(self, log: Iterable[Recorded]) -> Iterator[DecisionDifference]:
        """Yield the differences in whole commits of a log, which may lack `SKIPPED_EVENTS`."""
        for commit in commits(log):
            yield from self.take(commit)

    def take(self, commit: Sequence[Recorded]) -> Iterator[DecisionDifference]:
        """Yield the differences in a commit. Commits of other processes have none."""
        basis, readers = commit[0].stamp.basis, self._readers(commit[0].partition)
        if basis is not None and self.of.get(basis.partition) not in readers:
            yield from self._never_read(commit)
        for recomputation in readers:
            yield from recomputation.take(commit)

    def _readers(self, partition: int) -> Collection[Recomputation]:
        if partition == EVERYBODY:
            return self.of.values()
        reader = self.of.get(partition)
        return () if reader is None else (reader,)

    def _never_read(self, commit: Sequence[Recorded]) -> Iterator[DecisionDifference]:
        decided_commit = decided(commit)
        assert decided_commit is not None, "it has a basis"
        for difference in _all_of(decided_commit):
            self._unread.differences += 1
            self._unread.decisions += 1
            yield difference

    @property
    def counts(self) -> RecomputationCounts:
        """Return the sums of the counts of all partitions."""
        total = RecomputationCounts()
        for counts in (*(each.counts for each in self.of.values()), self._unread):
            total.decisions += counts.decisions
            total.commits += counts.commits
            total.differences += counts.differences
            total.mended += counts.mended
            total.unchecked += counts.unchecked
        return total

    @property
    def other_policies(self) -> Counter[int]:
        """Return the number of decisions of other policy versions, by version."""
        return sum((each.other_policies for each in self.of.values()), Counter[int]())


def _all_of(commit: DecidedCommit) -> Iterator[DecisionDifference]:
    for number, decision in enumerate(commit.decisions):
        yield DecisionDifference(commit, number, decision, None)
