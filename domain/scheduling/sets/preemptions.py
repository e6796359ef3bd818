"""Counts of preemptions by job, and the times at which sets have preempted others (design 6.4)."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any


class Preemptions:
    """The preemptions of unfinished jobs and sets. Mutable.

    `of_job` has the number of times that sets of a job were preempted. `last_by` has the time of the last
    preemption for each set that has preempted others.
    """

    def __init__(self) -> None:
        self.of_job: dict[int, int] = {}
        self.last_by: dict[int, datetime] = {}

    def add(self, job_id: int, preempted_by: int, at: datetime | None) -> None:
        """Count a set of a job that another set has preempted at a time."""
        self.of_job[job_id] = self.of_job.get(job_id, 0) + 1
        if at is not None:
            self.last_by[preempted_by] = at

    def drop_set(self, recipe_set_id: int) -> None:
        self.last_by.pop(recipe_set_id, None)

    def drop_job(self, job_id: int) -> None:
        self.of_job.pop(job_id, None)

    def plain(self) -> PlainPreemptions:
        """Return the counts and times, for a snapshot."""
        return list(self.of_job.items()), list(self.last_by.items())

    def restore(self, of_job: Iterable[tuple[int, int]], last_by: Iterable[tuple[int, Any]]) -> None:
        self.of_job = dict(of_job)
        self.last_by = {number: _time(at) for number, at in last_by}


PlainPreemptions = tuple[list[tuple[int, int]], list[tuple[int, datetime]]]


def _time(at: Any) -> datetime:
    return at if isinstance(at, datetime) else datetime.fromisoformat(at)
