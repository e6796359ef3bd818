"""The open jobs of a partition, which the scheduler closes some time after their last recipe has ended."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

CLOSED_AFTER: Final = timedelta(seconds=30)


class OpenJob(NamedTuple):
    """The version of an open job, and the time since which it has no unfinished recipe, if it has none.

    `since` is the recorded time of the end of its last recipe so far, or of its submission.
    """

    job_id: int
    version: int
    since: datetime


class OpenJobs:
    """The open jobs by id. Mutable."""

    def __init__(self) -> None:
        self._jobs: dict[int, OpenJob] = {}

    def __contains__(self, job_id: int) -> bool:
        return job_id in self._jobs

    def open(self, job_id: int, version: int, at: datetime) -> None:
        self._jobs[job_id] = OpenJob(job_id, version, at)

    def change(self, job_id: int, version: int) -> None:
        """Store the version of a job after an event, if it is open."""
        if job_id in self._jobs:
            self._jobs[job_id] = self._jobs[job_id]._replace(version=version)

    def close(self, job_id: int) -> None:
        self._jobs.pop(job_id, None)

    def recipe_ended(self, job_id: int, at: datetime) -> None:
        """Note the end of a recipe, after which its job may have no unfinished one."""
        if job_id in self._jobs:
            self._jobs[job_id] = self._jobs[job_id]._replace(since=at)

    def to_close(self, now: datetime, unfinished: Collection[int]) -> Iterator[OpenJob]:
        """Yield the jobs without unfinished recipes whose time is over; `unfinished` are jobs with some."""
        for job_id in sorted(self._jobs):
            if job_id not in unfinished and self._jobs[job_id].since + CLOSED_AFTER <= now:
                yield self._jobs[job_id]

    def plain(self) -> list[Mapping[str, Any]]:
        """Return the open jobs for a snapshot."""
        return [job._asdict() for job in self._jobs.values()]

    def restore(self, plain: Iterable[Mapping[str, Any]]) -> None:
        """Restore the result of `plain`, in which times are texts."""
        for job in plain:
            since = datetime.fromisoformat(job["since"])
            self._jobs[job["job_id"]] = OpenJob(job["job_id"], job["version"], since)
