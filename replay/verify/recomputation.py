"""Recomputation of each decision of a log, from its basis and its time, compared with the recorded decision.

The log is folded as by a newly started scheduler, so nothing depends on the memory of the scheduler that
decided. Events after the basis of a decision are folded once it is recomputed.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import zip_longest

from domain.directory.events import LabControllerSilent
from domain.events import Recorded
from domain.partition_numbers import DEFAULT_PARTITION, PartitionIdentity
from domain.scheduling.decisions.decide import decide, decides_alike
from domain.scheduling.decisions.draft import Decision
from domain.scheduling.decisions.timers import SILENT_AFTER_SECONDS, Findings, LoopInput, correct
from domain.scheduling.world.batches import catch_up
from domain.scheduling.world.lab_moves import History, no_history
from domain.scheduling.world.late_events import may_follow
from domain.scheduling.world.partition import Partition
from domain.scheduling.world.tentative import CommitPlace
from replay.verify.recorded_decisions import Decided, DecidedCommit, commits, decided, event_position

# Maximum number of unfolded events, and so between a basis and its commit. A scheduler reads them in seconds.
MAX_EVENTS_AHEAD = 50_000
CONSISTENCY = "timer/consistency"
CONTACT = "timer/contact/"


@dataclass(frozen=True)
class DecisionDifference:
    """A decision that differs from the recomputed one; None where one of the two is missing."""

    commit: DecidedCommit
    number: int
    recorded: Decided | None
    recomputed: Decided | None


@dataclass
class RecomputationCounts:
    """Counts of the recomputation.

    `mended` counts decisions granted late: the scheduler had missed an idle system. There should be none.
    `unchecked` counts decisions with more than `MAX_EVENTS_AHEAD` events between basis and commit.
    """

    decisions: int = 0
    commits: int = 0
    differences: int = 0
    mended: int = 0
    unchecked: int = 0


class Recomputation:
    """Recomputes the commits of a partition, which are passed in log order from the first. Mutable.

    `history` returns the events of subjects before a position, for labs that come into the partition.
    """

    def __init__(
        self, identity: PartitionIdentity = DEFAULT_PARTITION, history: History = no_history
    ) -> None:
        self.identity = identity
        self.counts = RecomputationCounts()
        self.other_policies = Counter[int]()
        self._partition = Partition(identity)
        self._history = history
        self._ahead: deque[Recorded] = deque()
        # Events up to this position were folded before the next decision was read, to limit memory.
        self._folded_early = 0

    def take_all(self, log: Iterable[Recorded]) -> Iterator[DecisionDifference]:
        """Yield the differences in whole commits of a log, which may lack `SKIPPED_EVENTS`."""
        for commit in commits(log):
            yield from self.take(commit)

    def take(self, commit: Sequence[Recorded]) -> Iterator[DecisionDifference]:
        """Yield the differences in a commit. Commits of other processes and partitions have none."""
        decided_commit = decided(commit)
        is_own = decided_commit is not None and decided_commit.basis.partition == self.identity.number
        if decided_commit is None or not is_own or not (yield from self._compare(decided_commit)):
            self._ahead.extend(commit)
        while len(self._ahead) > MAX_EVENTS_AHEAD:
            self._folded_early = self._ahead[0].position
            self._fold_next()

    def _compare(self, commit: DecidedCommit) -> Generator[DecisionDifference, None, bool]:
        """Yield the differences, and return whether the partition now contains the commit."""
        overlooked = list(self._overlooked(commit))
        self._fold_upto(commit.basis.position)
        if not decides_alike(self._partition, commit.basis.policy_version):
            self.other_policies[commit.basis.policy_version] += len(commit.decisions)
            return False
        if self._partition.position > commit.basis.position:
            self.counts.unchecked += len(commit.decisions)
            return False
        self.counts.commits += 1
        self.counts.decisions += len(commit.decisions)
        self.counts.mended += sum(decision.cause == CONSISTENCY for decision in commit.decisions)
        if overlooked or self._is_folded_early(commit):
            catch_up(self._partition.triggers, self._partition.sets, commit.stamp)
        all_differences = [*overlooked, *differences(commit, self._recompute(commit))]
        self.counts.differences += len(all_differences)
        yield from all_differences
        if all_differences or not commit.in_time:
            self._partition.rollback()
            return False
        return self._partition.confirm(self._place_of(commit))

    def _place_of(self, commit: DecidedCommit) -> CommitPlace:
        """Return the place of a commit. Some events that precede it may be folded later."""
        preceding = self._partition.position
        if not all(may_follow(recorded.event) for recorded in self._ahead):
            preceding = self._ahead[-1].position
        return CommitPlace(commit.first_position, commit.last_position, preceding, commit.recorded_at)

    def _overlooked(self, commit: DecidedCommit) -> Iterator[DecisionDifference]:
        """Yield a decision that was due for triggers that a commit records as answered before its batch.

        No commit answered these triggers, so at the position up to which they are recorded as answered, they
        must have no result. The rest of the recorded batch follows from earlier commits. The time of that
        answer is not recorded, so the decision has the time of the commit. By then room is kept for at least
        the sets for which it was kept before.
        """
        batch, basis = commit.basis.batch, commit.basis
        is_alike = decides_alike(self._partition, basis.policy_version)
        is_judged = is_alike and self._partition.position <= basis.position
        if batch is None or not is_judged or self._is_folded_early(commit):
            return
        if batch.after <= self._partition.triggers.batch.upto:
            return
        self._fold_upto(min(batch.after, basis.position))
        due = decide(self._partition, 1, basis.now, basis.policy_version)
        if due:
            self._partition.rollback()
            yield DecisionDifference(commit, 0, None, _plain(due[0]))

    def _is_folded_early(self, commit: DecidedCommit) -> bool:
        """Return whether events after the beginning of a commit's batch were folded already."""
        batch = commit.basis.batch
        return batch is None or batch.after < self._folded_early

    def _fold_upto(self, position: int) -> None:
        while self._ahead and self._ahead[0].position <= position:
            self._fold_next()
        self._partition.pass_over(position)

    def _fold_next(self) -> None:
        self._partition.apply(self._ahead.popleft(), self._history)

    def _recompute(self, commit: DecidedCommit) -> list[Decided]:
        """Return the recomputed decisions; they stay applied tentatively."""
        if commit.by_timer:
            recomputed = correct(self._partition, _loop_input(commit), Findings())
        elif event_position(commit.cause) is None:
            # The scheduler decides nothing for any other cause.
            recomputed = []
        else:
            limit, basis = len(commit.decisions), commit.basis
            recomputed = decide(self._partition, limit, basis.now, basis.policy_version)
        return list(map(_plain, recomputed))


def differences(commit: DecidedCommit, recomputed: Sequence[Decided]) -> Iterator[DecisionDifference]:
    for number, (one, other) in enumerate(zip_longest(commit.decisions, recomputed)):
        if one != other:
            yield DecisionDifference(commit, number, one, other)


def _plain(decision: Decision) -> Decided:
    return Decided(decision.trigger.cause, decision.events, decision.batch)


def _loop_input(commit: DecidedCommit) -> LoopInput:
    """Return the input of a run of the consistency loop, from its decisions: the log has no contacts."""
    now = commit.basis.now
    long_ago = now - timedelta(seconds=2 * SILENT_AFTER_SECONDS)
    heard: dict[str, datetime] = {}
    for decision in commit.decisions:
        if decision.cause.startswith(CONTACT):
            ((_, event),) = decision.events
            heard[decision.cause.removeprefix(CONTACT)] = (
                long_ago if isinstance(event, LabControllerSilent) else now
            )
    return LoopInput(now, heard, may_expire=any(map(_needs_clock, commit.decisions)))


def _needs_clock(decision: Decided) -> bool:
    """Return whether no run decides this while the clocks are in doubt."""
    is_silent = any(isinstance(event, LabControllerSilent) for _, event in decision.events)
    return is_silent or not decision.cause.startswith((CONSISTENCY, CONTACT))
