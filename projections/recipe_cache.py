"""A cache of recipes, and the number of recipes in each state for their sets and jobs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from psycopg import Cursor

from domain.job.stages import RecipeStates, stage_of
from domain.roll_up import state_of
from projections.sql import SQL

LockKey = tuple[int, str, str]
"""Recipe, level and name of a resource lock; an empty name stands for everything at the level."""


class RecipeIdentity(NamedTuple):
    """The constant properties of a recipe that folds use. `submission` is the position of its first event.

    `requirement` and `arch` are those of `domain.estimates.kinds`, None if no wait of the recipe has them.
    """

    job_id: int
    recipe_set_id: int
    submission: int
    distro_tree_id: int | None
    host_recipe_id: int | None
    locks: Mapping[str, Any]
    partition: int
    group_name: str | None
    requirement: str | None
    arch: str | None


class StateCounts:
    """The number of recipes of a set or job in each state, so that a change costs the same in a large set."""

    __slots__ = ("_counts", "rolled_up")

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        # The state of the set or job; empty without recipes.
        self.rolled_up = ""

    def add(self, state: str, count: int) -> None:
        self._counts[state] = self._counts.get(state, 0) + count
        self.rolled_up = state_of(self._counts)

    def move(self, before: str | None, after: str) -> None:
        counts = self._counts
        counts[after] = counts.get(after, 0) + 1
        if before is not None:
            left = counts[before] - 1
            if left:
                counts[before] = left
            else:
                del counts[before]
        self.rolled_up = after if len(counts) == 1 else state_of(counts)


class JobCounts(StateCounts):
    """The counts of a job, with all that its stage depends on (`domain.job.stages`). Mutable."""

    __slots__ = ("had_system", "preempted")

    def __init__(self) -> None:
        super().__init__()
        # The number of recipes that wait again after they were preempted, and whether one had a system.
        self.preempted = 0
        self.had_system = False

    def stage(self, *, is_open: bool) -> str:
        return stage_of(RecipeStates(frozenset(self._counts), self.preempted > 0, self.had_system, is_open))


class RecipeCache:
    """Recipes by id, and the states of their sets and jobs, cached over pages.

    With `tables_are_empty`, all recipes come from this process, so none is ever fetched. `began` has the
    times when a recipe last entered each state, and `locked`, when its set last had its resource locks; for
    fetched recipes only those that durations need. `locks` has the keys of the open rows of `locks`.
    `sets_of_job` has the sets of each job, in the order of their recipes, as keys.
    """

    def __init__(self, *, tables_are_empty: bool = False) -> None:
        self._tables_are_empty = tables_are_empty
        self.recipes: dict[int, RecipeIdentity] = {}
        self.state: dict[int, str] = {}
        self.began: dict[int, dict[str, datetime]] = {}
        self.tasks: dict[int, list[int]] = {}
        self.locks: dict[int, list[LockKey]] = {}
        self.of_set: dict[int, list[int]] = defaultdict(list)
        self.sets: dict[int, StateCounts] = defaultdict(StateCounts)
        self.jobs: dict[int, JobCounts] = defaultdict(JobCounts)
        self.sets_of_job: dict[int, dict[int, None]] = defaultdict(dict)
        # Sets with all their recipes cached.
        self._complete_sets: set[int] = set()

    def load(
        self,
        cursor: Cursor[Any],
        recipe_ids: Sequence[int],
        set_ids: Sequence[int],
        job_ids: Sequence[int] = (),
    ) -> None:
        """Fetch recipes and sets that are not cached, and the counts of their jobs and of those named."""
        if self._tables_are_empty:
            return
        jobs = dict.fromkeys(job_id for job_id in job_ids if job_id not in self.jobs)
        recipes = [recipe_id for recipe_id in recipe_ids if recipe_id not in self.recipes]
        sets = [set_id for set_id in set_ids if set_id not in self._complete_sets]
        self._complete_sets.update(sets)
        if recipes or sets:
            jobs |= self._add_members(cursor, recipes, sets)
        if jobs:
            self._count(cursor, list(jobs))

    def _add_members(self, cursor: Cursor[Any], recipes: list[int], sets: list[int]) -> dict[int, None]:
        """Fetch recipes; return their jobs whose counts are not cached."""
        jobs: dict[int, None] = {}
        rows = cursor.execute(SQL["members"], {"recipes": recipes, "sets": sets}).fetchall()
        for recipe_id, state, task_ids, locks, new, waiting, locked, running, *fields in rows:
            if recipe_id in self.recipes:
                continue
            identity = RecipeIdentity._make(fields)
            if identity.job_id not in self.jobs:
                jobs[identity.job_id] = None
            self.add(recipe_id, identity, task_ids)
            self.state[recipe_id] = state
            if locks:
                self.locks[recipe_id] = [(recipe_id, level, name) for level, name in locks]
            self.began[recipe_id] = {"new": new, "waiting": waiting, "locked": locked, "running": running}
        return jobs

    def _count(self, cursor: Cursor[Any], jobs: list[int]) -> None:
        rows = cursor.execute(SQL["states_of_jobs"], (jobs,)).fetchall()
        for job_id, set_id, state, count, preempted, had_system in rows:
            self.sets[set_id].add(state, count)
            counts = self.jobs[job_id]
            counts.add(state, count)
            counts.preempted += preempted
            counts.had_system = counts.had_system or had_system
            self.sets_of_job[job_id][set_id] = None

    def of_sets(self, set_ids: Iterable[int]) -> list[int]:
        return [recipe_id for set_id in set_ids for recipe_id in self.of_set[set_id]]

    def add(self, recipe_id: int, identity: RecipeIdentity, task_ids: list[int]) -> None:
        """Add a new recipe, whose state `move` must set."""
        self.recipes[recipe_id] = identity
        self.tasks[recipe_id] = task_ids
        self.of_set[identity.recipe_set_id].append(recipe_id)
        self.sets_of_job[identity.job_id][identity.recipe_set_id] = None
        self.began[recipe_id] = {}

    def move(self, recipe_id: int, state: str, moment: datetime) -> None:
        before, identity = self.state.get(recipe_id), self.recipes[recipe_id]
        self.sets[identity.recipe_set_id].move(before, state)
        self.jobs[identity.job_id].move(before, state)
        self.state[recipe_id] = state
        self.began[recipe_id][state] = moment
