"""The stage of a job: how far it is, by one table of rows over the states of its recipes (design 6).

The stage stands beside the state of the job, which is that of its least finished recipe.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import combinations_with_replacement
from typing import Final, NamedTuple

from domain.recipe.lifecycle import PLACED, RECIPE, UNFINISHED, UNPLACED

NEW: Final = "new"
COMPLETED: Final = "completed"


class RecipeStates(NamedTuple):
    """The states of the recipes of a job, as far as its stage depends on them.

    `present` has each state in which a recipe is. `waits_preempted`: a recipe waits again after its set was
    preempted. `had_system`: a recipe has or had a system. `is_open`: the job takes further recipe sets.
    """

    present: frozenset[str]
    waits_preempted: bool = False
    had_system: bool = False
    is_open: bool = False

    @property
    def are_new(self) -> bool:
        return self.present <= {NEW}

    @property
    def has_unfinished(self) -> bool:
        return not self.present.isdisjoint(UNFINISHED)

    @property
    def has_placed(self) -> bool:
        return not self.present.isdisjoint(PLACED)

    @property
    def is_over(self) -> bool:
        return not self.is_open and not self.has_unfinished


class Stage(NamedTuple):
    """A row of the table: the stage holds when its condition does, and that of no row before it."""

    name: str
    when: str
    holds: Callable[[RecipeStates], bool]


STAGES: Final = (
    # An open job without recipes is new, a closed one has nothing left to do.
    Stage("new", "all recipes are new", lambda job: job.are_new and not (job.is_over and not job.present)),
    Stage(
        "failing",
        "a recipe was aborted, and another one is unfinished or the job is open",
        lambda job: "aborted" in job.present and not job.is_over,
    ),
    Stage(
        "resuming",
        "no recipe is placed, and one waits again after it was preempted",
        lambda job: job.waits_preempted and not job.has_placed,
    ),
    Stage(
        "running",
        "a recipe is placed, or one has completed and another is unfinished",
        lambda job: job.has_placed or (COMPLETED in job.present and job.has_unfinished),
    ),
    Stage("accepted", "a recipe is unfinished", lambda job: job.has_unfinished),
    Stage("completing", "all recipes have ended, and the job is open", lambda job: job.is_open),
    Stage(
        "rejected",
        "the job is over, a recipe was aborted, and none ever had a system",
        lambda job: "aborted" in job.present and not job.had_system,
    ),
    Stage("failed", "the job is over, and a recipe was aborted", lambda job: "aborted" in job.present),
    Stage("cancelled", "the job is over, and a recipe was cancelled", lambda job: "cancelled" in job.present),
    Stage("completed", "the job is over", lambda job: job.is_over),
)

OVER: Final = ("rejected", "failed", "cancelled", "completed")
"""The stages of jobs that are over; a job stays in them."""


@cache
def stage_of(job: RecipeStates) -> str:
    """Return the first stage of the table that holds. There are few different arguments."""
    return next(stage.name for stage in STAGES if stage.holds(job))


class _Recipe(NamedTuple):
    """A recipe as stages see it."""

    state: str
    is_preempted: bool = False
    had_system: bool = False


_Job = tuple[bool, tuple[_Recipe, ...]]
"""Whether the job is open, and its recipes, sorted."""


@cache
def moves(recipes: int = 3) -> Mapping[tuple[str, str], str]:
    """Return the moves from stage to stage, each with an event that makes it.

    They are found in all jobs of up to `recipes` recipes, by every move of a recipe, every set that is added
    to an open job, and its end.
    """
    found: dict[tuple[str, str], str] = {}
    for job in _jobs(recipes):
        before = stage_of(_states(job))
        for event, after in _next(job, recipes):
            move = before, stage_of(_states(after))
            if move[0] != move[1]:
                found.setdefault(move, event)
    return found


def _jobs(recipes: int) -> Iterator[_Job]:
    """Yield all jobs. A recipe that completed, or is placed, has or had a system."""
    kinds = [
        _Recipe(state, is_preempted, had_system)
        for state in RECIPE.states
        for is_preempted in (False, True)
        for had_system in (False, True)
        if had_system or (state not in PLACED and state != COMPLETED and not is_preempted)
        if not is_preempted or state in UNPLACED[1:]
    ]
    for is_open in (True, False):
        for count in range(0 if is_open else 1, recipes + 1):
            for members in combinations_with_replacement(kinds, count):
                yield is_open, members


def _states(job: _Job) -> RecipeStates:
    is_open, members = job
    return RecipeStates(
        frozenset(one.state for one in members),
        any(one.is_preempted for one in members),
        any(one.had_system for one in members),
        is_open,
    )


def _next(job: _Job, recipes: int) -> Iterator[tuple[str, _Job]]:
    """Yield each event that can come next, and the job after it."""
    is_open, members = job
    if is_open:
        yield "closed", (False, members)
        if len(members) < recipes:
            yield "a set was added", (True, (*members, _Recipe(NEW)))
    for place, member in enumerate(members):
        for after in _after(member):
            yield f"a recipe is {after.state}", (is_open, (*members[:place], after, *members[place + 1 :]))


def _after(recipe: _Recipe) -> Iterator[_Recipe]:
    for before, state, _ in RECIPE.rows:
        if before == recipe.state:
            waits = recipe.is_preempted and state in UNPLACED
            yield _Recipe(state, waits, recipe.had_system or state in PLACED)
            if before in PLACED and state == "queued":
                yield _Recipe(state, True, True)
