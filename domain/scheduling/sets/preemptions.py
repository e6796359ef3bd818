"""Counts of preemptions by job, and which sets have preempted which others, and when (design 6.4)."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any, NamedTuple


class Preemption(NamedTuple):
    """A set of a job that gave way to another set, and the time at which that one had preempted before."""

    job_id: int
    victim: int
    taking: int
    last_before: datetime | None


class Preemptions:
    """The preemptions of unfinished jobs and sets. Mutable.

    `of_job` has the number of times that sets of a job were preempted. `last_by` has the time of the last
    preemption for each set that has preempted others, `takings` the sets that have preempted each set.
    """

    def __init__(self) -> None:
        self.of_job: dict[int, int] = {}
        self.last_by: dict[int, datetime] = {}
        self.takings: dict[int, tuple[int, ...]] = {}

    def add(self, job_id: int, victim: int, taking: int, at: datetime | None) -> Preemption:
        """Count a set of a job that another set has preempted at a time; return it for `undo`."""
        added = Preemption(job_id, victim, taking, self.last_by.get(taking))
        self.of_job[job_id] = self.of_job.get(job_id, 0) + 1
        self.takings[victim] = (*self.takings.get(victim, ()), taking)
        if at is not None:
            self.last_by[taking] = at
        return added

    def undo(self, added: Preemption) -> None:
        """Roll back the last preemption that was added."""
        self.of_job[added.job_id] -= 1
        if not self.of_job[added.job_id]:
            del self.of_job[added.job_id]
        self.takings[added.victim] = self.takings[added.victim][:-1]
        if not self.takings[added.victim]:
            del self.takings[added.victim]
        if added.last_before is None:
            self.last_by.pop(added.taking, None)
        else:
            self.last_by[added.taking] = added.last_before

    def drop_set(self, recipe_set_id: int) -> None:
        self.last_by.pop(recipe_set_id, None)
        self.takings.pop(recipe_set_id, None)

    def drop_job(self, job_id: int) -> None:
        self.of_job.pop(job_id, None)

    def plain(self) -> PlainPreemptions:
        """Return the counts, times and takings, for a snapshot."""
        return list(self.of_job.items()), list(self.last_by.items()), list(self.takings.items())

    def restore(
        self,
        of_job: Iterable[tuple[int, int]],
        last_by: Iterable[tuple[int, Any]],
        takings: Iterable[tuple[int, Iterable[int]]],
    ) -> None:
        self.of_job = dict(of_job)
        self.last_by = {number: _time(at) for number, at in last_by}
        self.takings = {number: tuple(each) for number, each in takings}


PlainPreemptions = tuple[list[tuple[int, int]], list[tuple[int, datetime]], list[tuple[int, tuple[int, ...]]]]


def _time(at: Any) -> datetime:
    return at if isinstance(at, datetime) else datetime.fromisoformat(at)
