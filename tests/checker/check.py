"""One pass over a log with every invariant.

Two worlds are kept: what the log says, and what the scheduler knew when it last decided.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator

from tests.checker.booking import InStep, OneRecipePerSystem
from tests.checker.decisions import Decisions, WholeCommits
from tests.checker.grants import NobodyJumped, NobodyOverlooked, NoUnsafeGrant, UsableGrant
from tests.checker.invariant import Invariant, Violation
from tests.checker.pending import TheQueueIsAsked
from tests.checker.reasons import EveryUnplacedRecipeHasAReason
from tests.checker.record import Commit, Record, commits
from tests.checker.together import OneLabPerSet, StartsTogether
from tests.checker.transitions import LegalTransitions
from tests.checker.viable import CouldRun, Judge, could_run
from tests.checker.world import World

SHOWN = 20


def invariants(could_run: CouldRun) -> tuple[Invariant, ...]:
    """All of them, fresh, for one log."""
    judge = Judge(could_run)
    return (
        WholeCommits(),
        LegalTransitions(),
        OneRecipePerSystem(),
        InStep(),
        TheQueueIsAsked(),
        OneLabPerSet(),
        StartsTogether(),
        EveryUnplacedRecipeHasAReason(),
        Decisions(),
        UsableGrant(judge),
        NobodyJumped(judge),
        NobodyOverlooked(judge),
        NoUnsafeGrant(judge),
    )


def check(records: Iterable[Record], could_run: CouldRun = could_run) -> list[Violation]:
    """Every violation in a log that is given from its first event on."""
    found: list[Violation] = []
    pass_over = Pass(invariants(could_run))
    for commit in commits(records):
        found.extend(pass_over.take(commit))
    return found


def assert_sound(records: Iterable[Record], could_run: CouldRun = could_run) -> None:
    fail_on(check(records, could_run))


def fail_on(violations: list[Violation]) -> None:
    shown = "\n".join(map(str, violations[:SHOWN]))
    assert not violations, f"{len(violations)} violations:\n{shown}"


class Pass:
    """Takes the commits of a log in order."""

    def __init__(self, invariants: tuple[Invariant, ...]) -> None:
        self._invariants = invariants
        self._world = World()
        self._known = World()
        self._unknown: deque[Commit] = deque()

    def take(self, commit: Commit) -> Iterator[Violation]:
        yield from self._decisions(commit)
        for record in commit.records:
            for invariant in self._invariants:
                yield from invariant.event(self._world, record)
            self._world.apply(record)
        for invariant in self._invariants:
            yield from invariant.commit(self._world, commit)
        self._unknown.append(commit)

    def _decisions(self, commit: Commit) -> Iterator[Violation]:
        """Each is judged by what its basis says and those before it have decided."""
        if not commit.decisions:
            return
        basis = commit.decisions[0].basis
        while self._unknown and self._unknown[0].end <= basis:
            self._known.apply_all(self._unknown.popleft())
        supposed = self._known.copy()
        for decision in commit.decisions:
            for invariant in self._invariants:
                yield from invariant.decision(supposed, decision)
            for record in decision.records:
                supposed.apply(record)
