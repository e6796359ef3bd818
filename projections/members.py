"""The recipes that a page touches, and how many others of their sets and jobs are in which state."""

from __future__ import annotations

from collections import Counter, defaultdict
from datetime import datetime
from typing import Any, NamedTuple

from psycopg import Cursor

from domain.roll_up import state_of
from projections.sql import SQL


class Member(NamedTuple):
    """What never changes of a recipe. `submission` is the position of its first event."""

    job_id: int
    recipe_set_id: int
    submission: int
    distro_tree_id: int | None
    host_recipe_id: int | None


class States:
    """How many recipes of a set or job are in each state, so that one's move costs the same among many."""

    def __init__(self) -> None:
        self._counts = Counter[str]()

    @property
    def together(self) -> str:
        """The state of the set or job."""
        return state_of(self._counts)

    def add(self, state: str, count: int) -> None:
        self._counts[state] += count

    def move(self, before: str | None, after: str) -> None:
        self._counts[after] += 1
        if before is not None:
            self._counts[before] -= 1
            if not self._counts[before]:
                del self._counts[before]


class Members:
    """The recipes that a page touches, by id, and the states of their sets and jobs.

    `began` is when a recipe last came into a state, where anybody asks.
    """

    def __init__(self) -> None:
        self._start()

    def _start(self) -> None:
        self.recipes: dict[int, Member] = {}
        self.state: dict[int, str] = {}
        self.began: dict[int, dict[str, datetime]] = {}
        self.tasks: dict[int, list[int]] = {}
        self.of_set: dict[int, list[int]] = defaultdict(list)
        self.sets: dict[int, States] = defaultdict(States)
        self.jobs: dict[int, States] = defaultdict(States)

    def load(self, cursor: Cursor[Any], recipe_ids: list[int], set_ids: list[int]) -> None:
        self._start()
        if not recipe_ids and not set_ids:
            return
        found = cursor.execute(SQL["members"], {"recipes": recipe_ids, "sets": set_ids}).fetchall()
        for recipe_id, state, task_ids, new, waiting, running, *member in found:
            self.add(recipe_id, Member._make(member), task_ids)
            self.state[recipe_id] = state
            self.began[recipe_id] = {"new": new, "waiting": waiting, "running": running}
        jobs = list({member.job_id: None for member in self.recipes.values()})
        for job_id, set_id, state, count in cursor.execute(SQL["states_of_jobs"], (jobs,)).fetchall():
            self.sets[set_id].add(state, count)
            self.jobs[job_id].add(state, count)

    def add(self, recipe_id: int, member: Member, task_ids: list[int]) -> None:
        """A recipe; which state it is in has to be said by `move`."""
        self.recipes[recipe_id] = member
        self.tasks[recipe_id] = task_ids
        self.of_set[member.recipe_set_id].append(recipe_id)
        self.began[recipe_id] = {}

    def move(self, recipe_id: int, state: str, moment: datetime) -> None:
        before, member = self.state.get(recipe_id), self.recipes[recipe_id]
        self.sets[member.recipe_set_id].move(before, state)
        self.jobs[member.job_id].move(before, state)
        self.state[recipe_id] = state
        self.began[recipe_id][state] = moment
