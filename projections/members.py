"""The recipes of the jobs that a page touches: state and task results, for the roll-up."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from psycopg import Cursor

from domain.job.roll_up import result_of, state_of

MEMBERS = b"""
SELECT d.job_id, d.recipe_set_id, d.recipe_id, d.since_position, r.state, s.priority,
       coalesce((SELECT array_agg(t.result) FROM read.tasks t
                 WHERE t.recipe_id = d.recipe_id AND t.until_position = 9223372036854775807), '{}')
FROM read.recipe_details d
JOIN read.recipes r ON r.recipe_id = d.recipe_id AND r.until_position = 9223372036854775807
JOIN read.recipe_sets s ON s.recipe_set_id = d.recipe_set_id AND s.until_position = 9223372036854775807
WHERE d.job_id IN (SELECT job_id FROM read.recipe_details WHERE recipe_id = ANY (%s))
"""


class Members:
    """State and task results of all recipes of the jobs a page touches, for the roll-up."""

    def __init__(self) -> None:
        self._start()

    def _start(self) -> None:
        self.of_job: dict[int, dict[int, None]] = defaultdict(dict)
        self.of_set: dict[int, dict[int, None]] = defaultdict(dict)
        self.place: dict[int, tuple[int, int, int, str]] = {}
        self.state: dict[int, str] = {}
        self.results: dict[int, list[str]] = {}
        self.tasks: dict[int, list[int]] = defaultdict(list)

    def load(self, cursor: Cursor[Any], recipe_ids: list[int]) -> None:
        self._start()
        if recipe_ids:
            for job_id, set_id, recipe_id, submission, state, priority, results in cursor.execute(
                MEMBERS, (recipe_ids,)
            ).fetchall():
                self.add(job_id, set_id, recipe_id, submission, priority)
                self.state[recipe_id] = state
                self.results[recipe_id] = results

    def add(self, job_id: int, set_id: int, recipe_id: int, submission: int, priority: str) -> None:
        self.of_job[job_id][recipe_id] = None
        self.of_set[set_id][recipe_id] = None
        self.place[recipe_id] = job_id, set_id, submission, priority
        self.state[recipe_id] = "new"
        self.results[recipe_id] = []

    def jobs(self) -> Iterable[int]:
        return list(self.of_job)

    def recipe_sets(self) -> Iterable[int]:
        return list(self.of_set)

    def roll_up(self, recipe_ids: Iterable[int]) -> tuple[str, str]:
        """State and result of the set or job that has these recipes."""
        members = list(recipe_ids)
        return (
            state_of(self.state[member] for member in members),
            result_of(result for member in members for result in self.results[member]),
        )
