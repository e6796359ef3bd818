"""The recipes of the jobs that a page touches: what folding one of them needs to know of the others."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Any, NamedTuple

from psycopg import Cursor

from domain.roll_up import result_of, state_of

MEMBERS = b"""
SELECT d.recipe_id, r.state, tasks.ids, tasks.results,
       d.job_id, d.recipe_set_id, d.since_position, d.distro_tree_id, d.host_recipe_id
FROM read.recipe_details d
JOIN read.recipes r ON r.recipe_id = d.recipe_id AND r.until_position = 9223372036854775807
CROSS JOIN LATERAL (
    SELECT coalesce(array_agg(t.task_id ORDER BY t.task_id), '{}') AS ids,
           coalesce(array_agg(t.result), '{}') AS results
    FROM read.tasks t WHERE t.recipe_id = d.recipe_id AND t.until_position = 9223372036854775807) AS tasks
WHERE d.job_id IN (
    SELECT job_id FROM read.recipe_details
    WHERE recipe_id = ANY (%(recipes)s) OR recipe_set_id = ANY (%(sets)s))
ORDER BY d.recipe_id
"""


class Member(NamedTuple):
    """What never changes of a recipe. `submission` is the position of its first event."""

    job_id: int
    recipe_set_id: int
    submission: int
    distro_tree_id: int | None
    host_recipe_id: int | None


class RollUp:
    """State and result of a set or job. A recipe's move costs the same however many others there are."""

    def __init__(self) -> None:
        self._states = Counter[str]()
        self.result = "New"

    @property
    def state(self) -> str:
        return state_of(self._states)

    def move(self, before: str | None, after: str) -> None:
        self._states[after] += 1
        if before is not None:
            self._states[before] -= 1
            if not self._states[before]:
                del self._states[before]

    def worsen(self, results: Iterable[str]) -> None:
        self.result = result_of((self.result, *results))


class Members:
    """All recipes of the jobs a page touches, and what their sets and jobs come to."""

    def __init__(self) -> None:
        self._start()

    def _start(self) -> None:
        self.recipes: dict[int, Member] = {}
        self.state: dict[int, str] = {}
        self.tasks: dict[int, list[int]] = {}
        self.of_set: dict[int, list[int]] = defaultdict(list)
        self.sets: dict[int, RollUp] = defaultdict(RollUp)
        self.jobs: dict[int, RollUp] = defaultdict(RollUp)

    def load(self, cursor: Cursor[Any], recipe_ids: list[int], set_ids: list[int]) -> None:
        self._start()
        if recipe_ids or set_ids:
            found = cursor.execute(MEMBERS, {"recipes": recipe_ids, "sets": set_ids}).fetchall()
            for recipe_id, state, task_ids, results, *member in found:
                self.add(recipe_id, Member._make(member), task_ids)
                self.move(recipe_id, state)
                self.worsen(recipe_id, results)

    def add(self, recipe_id: int, member: Member, task_ids: list[int]) -> None:
        """A recipe; which state it is in has to be said by `move`."""
        self.recipes[recipe_id] = member
        self.tasks[recipe_id] = task_ids
        self.of_set[member.recipe_set_id].append(recipe_id)

    def move(self, recipe_id: int, state: str) -> None:
        before, member = self.state.get(recipe_id), self.recipes[recipe_id]
        self.sets[member.recipe_set_id].move(before, state)
        self.jobs[member.job_id].move(before, state)
        self.state[recipe_id] = state

    def worsen(self, recipe_id: int, results: Iterable[str]) -> None:
        """Tasks of the recipe have these results, and maybe better ones from before."""
        member = self.recipes[recipe_id]
        for roll_up in (self.sets[member.recipe_set_id], self.jobs[member.job_id]):
            roll_up.worsen(results)
