"""Recomputation of each decision of a log, from its basis and its time, compared with the recorded decision.

The log is read as a newly started scheduler reads it, so nothing depends on the memory of the scheduler that
decided. Events behind the basis of a decision wait until it is recomputed.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import zip_longest

from domain.directory.events import LabControllerSilent
from domain.events import Recorded
from domain.recipe.events import RecipeNew
from domain.recipe_set.events import RecipeSetSubmitted
from domain.scheduling.decisions.decide import POLICY_VERSION, decide
from domain.scheduling.decisions.draft import Decision
from domain.scheduling.decisions.timers import SILENT_AFTER_SECONDS, Findings, LoopInput, correct
from domain.scheduling.world.batches import catch_up
from domain.scheduling.world.partition import Partition
from replay.verify.recorded_decisions import Decided, DecidedCommit, commits, decided, event_position

# Maximum number of events between a basis and its commit; a scheduler reads them in seconds.
MAX_EVENTS_AHEAD = 50_000
# New sets in between change nothing that the decision depends on, and raise triggers of their own.
APART = (RecipeSetSubmitted, RecipeNew)
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

    `mended` are decisions of the consistency loop for an idle system that a recipe wanted: there should be
    none. `unchecked` are decisions whose basis is too far behind.
    """

    decisions: int = 0
    commits: int = 0
    differences: int = 0
    mended: int = 0
    unchecked: int = 0


class Recomputation:
    """Recomputes the commits of one log, which are passed in order from the first. Mutable."""

    def __init__(self) -> None:
        self.counts = RecomputationCounts()
        self.other_policies = Counter[int]()
        self._partition = Partition()
        self._ahead: deque[Recorded] = deque()
        # Events up to this position were folded to save space, before the next decision was read.
        self._folded_early = 0

    def take_all(self, log: Iterable[Recorded]) -> Iterator[DecisionDifference]:
        """Yield the differences in a part of a log that ends with a commit.

        `SKIPPED_EVENTS` may be missing.
        """
        for commit in commits(log):
            yield from self.take(commit)

    def take(self, commit: Sequence[Recorded]) -> Iterator[DecisionDifference]:
        """Yield the differences in a commit of the scheduler."""
        made = decided(commit)
        if made is None or not (yield from self._compare(made)):
            self._ahead.extend(commit)
        while len(self._ahead) > MAX_EVENTS_AHEAD:
            self._folded_early = self._ahead[0].position
            self._fold_next()

    def _compare(self, made: DecidedCommit) -> Generator[DecisionDifference, None, bool]:
        """Yield the differences, and return whether the partition now contains the commit."""
        overlooked = list(self._overlooked(made))
        self._fold_upto(made.basis.position)
        if made.basis.policy_version != POLICY_VERSION:
            self.other_policies[made.basis.policy_version] += len(made.decisions)
            return False
        if self._partition.position > made.basis.position:
            self.counts.unchecked += len(made.decisions)
            return False
        self.counts.commits += 1
        self.counts.decisions += len(made.decisions)
        self.counts.mended += sum(one.cause == CONSISTENCY for one in made.decisions)
        if overlooked or self._is_folded_early(made):
            catch_up(self._partition.triggers, self._partition.sets, made.stamp)
        found = [*overlooked, *differences(made, self._recompute(made))]
        self.counts.differences += len(found)
        yield from found
        if found or not made.in_time:
            self._partition.rollback()
            return False
        return self._partition.confirm(made.first_position, made.last_position, made.recorded_at)

    def _overlooked(self, made: DecidedCommit) -> Iterator[DecisionDifference]:
        """Yield the decisions demanded by triggers that a commit records as answered before its batch.

        No commit answered these triggers, so they should have no result at the position up to which they are
        recorded as answered. All else that a commit records of its batch follows from the commits before it.
        """
        batch, basis = made.basis.batch, made.basis
        is_judged = basis.policy_version == POLICY_VERSION and self._partition.position <= basis.position
        if batch is None or not is_judged or self._is_folded_early(made):
            return
        if batch.after <= self._partition.triggers.batch.upto:
            return
        self._fold_upto(min(batch.after, basis.position))
        demanded = decide(self._partition, 1)
        if demanded:
            self._partition.rollback()
            yield DecisionDifference(made, 0, None, _plain(demanded[0]))

    def _is_folded_early(self, made: DecidedCommit) -> bool:
        """Return whether the state is already beyond the triggers before the batch of a commit."""
        batch = made.basis.batch
        return batch is None or batch.after < self._folded_early

    def _fold_upto(self, position: int) -> None:
        while self._ahead and self._ahead[0].position <= position:
            self._fold_next()
        self._partition.pass_over(position)

    def _fold_next(self) -> None:
        self._partition.apply(self._ahead.popleft())

    def _recompute(self, made: DecidedCommit) -> list[Decided]:
        """Return the recomputed decisions; they stay applied tentatively."""
        if made.by_timer:
            recomputed = correct(self._partition, _clock(made), Findings())
        elif event_position(made.cause) is None:
            # The policy demands nothing for any other cause.
            recomputed = []
        else:
            behind = made.first_position - 1 if self._is_apart() else None
            recomputed = decide(self._partition, len(made.decisions), made.basis.now, behind)
        return list(map(_plain, recomputed))

    def _is_apart(self) -> bool:
        """Return whether only new sets lie behind the basis; their events may be folded later."""
        return all(type(recorded.event) in APART for recorded in self._ahead)


def differences(made: DecidedCommit, recomputed: Sequence[Decided]) -> Iterator[DecisionDifference]:
    for number, (one, other) in enumerate(zip_longest(made.decisions, recomputed)):
        if one != other:
            yield DecisionDifference(made, number, one, other)


def _plain(decision: Decision) -> Decided:
    return Decided(decision.trigger.cause, decision.events, decision.batch)


def _clock(made: DecidedCommit) -> LoopInput:
    """Return the clock of a turn of the consistency loop, as far as its decisions reveal it.

    The log contains neither contacts nor doubts about clocks. A turn that ended something was allowed to end
    things.
    """
    now = made.basis.now
    long_ago = now - timedelta(seconds=2 * SILENT_AFTER_SECONDS)
    heard: dict[str, datetime] = {}
    for one in made.decisions:
        if one.cause.startswith(CONTACT):
            ((_, event),) = one.events
            heard[one.cause.removeprefix(CONTACT)] = (
                long_ago if isinstance(event, LabControllerSilent) else now
            )
    return LoopInput(now, heard, may_end=any(map(_ends, made.decisions)))


def _ends(one: Decided) -> bool:
    """Return whether no turn decides this while the clocks are in doubt."""
    is_silent = any(isinstance(event, LabControllerSilent) for _, event in one.events)
    return is_silent or not one.cause.startswith((CONSISTENCY, CONTACT))
