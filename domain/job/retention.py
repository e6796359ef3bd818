"""Decisions about the results and logs of a job: keep them, or delete them by its retention tag."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from domain.errors import Refused
from domain.events import Decided
from domain.job.events import JobKeepEnded, JobKept, JobLogsExpired, JobResultsDeleted
from domain.job.retention_tags import RetentionTag
from domain.job.state import Job


@dataclass(frozen=True)
class KeepChange:
    """Keep the results and logs of a job, or let its retention tag apply again."""

    is_kept: bool
    reason: str


def keep_job(job: Job, change: KeepChange) -> Decided:
    """Return the event of a change, none if it is so already. Raises Refused for deleted results."""
    if change.is_kept == job.is_kept:
        return []
    if change.is_kept and job.has_deleted_results:
        raise Refused(f"the results and logs of job {job.job_id} have been deleted")
    return [(job.subject, (JobKept if change.is_kept else JobKeepEnded)(change.reason))]


def delete_results(job: Job, tag: RetentionTag, lab_controllers: Iterable[str]) -> Decided:
    """Return the events that delete the results and logs of an ended job, none if they must stay.

    The caller has found that the days of the tag are over, perhaps on older state: the job may be kept, or
    have another tag by now. `lab_controllers` are those on whose systems the job has run.
    """
    if job.is_open or job.is_kept or job.has_deleted_results or job.retention_tag != tag.name:
        return []
    expired = ((job.subject, JobLogsExpired(name)) for name in sorted(lab_controllers))
    return [(job.subject, JobResultsDeleted(tag.name, tag.days)), *expired]
