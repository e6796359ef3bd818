"""Results and logs of jobs: kept by people, deleted by retention tags."""

from __future__ import annotations

import pytest

from domain.errors import Refused
from domain.events import Event
from domain.job.events import (
    JobChanged,
    JobClosed,
    JobKeepEnded,
    JobKept,
    JobLogsExpired,
    JobOpened,
    JobResultsDeleted,
    JobSubmitted,
)
from domain.job.retention import KeepChange, delete_results, keep_job
from domain.job.retention_tags import RetentionTag, RetentionTags
from domain.job.state import Job
from domain.lab_commands.derive import Command, of_job
from tests.domain.job.specs import job_of

SUBMITTED = JobSubmitted("ada", "ada", None, "", (3,), {"retention_tag": "week"})
WEEK = RetentionTag("week", 7)
DELETED = JobResultsDeleted("week", 7)


def job(*later: Event) -> Job:
    return job_of(SUBMITTED, *later)


def test_deletion__due_job__says_tag_and_days_and_tells_each_lab() -> None:
    assert delete_results(job(), WEEK, ["lab-2", "lab-1"]) == [
        ("job/1", DELETED),
        ("job/1", JobLogsExpired("lab-1")),
        ("job/1", JobLogsExpired("lab-2")),
    ]
    assert of_job(1, JobLogsExpired("lab-1")) == Command("delete-logs", "lab-1", None, None, job_id=1)


@pytest.mark.parametrize(
    ("later", "is_deleted"),
    [
        ((JobKept("a bug"),), False),
        ((JobKept("a bug"), JobKeepEnded("fixed")), True),
        ((JobChanged("", "month", None),), False),
        ((JobOpened(()),), False),
        ((JobOpened(()), JobClosed("closed")), True),
        ((DELETED,), False),
    ],
)
def test_deletion__state_that_the_caller_has_not_seen__counts(
    later: tuple[Event, ...], is_deleted: bool
) -> None:
    assert bool(delete_results(job(*later), WEEK, [])) == is_deleted


def test_keep__same_twice_or_after_the_deletion__changes_nothing_or_is_refused() -> None:
    keep, end = KeepChange(True, "a bug"), KeepChange(False, "fixed")
    assert keep_job(job(), keep) == [("job/1", JobKept("a bug"))]
    assert keep_job(job(JobKept("a bug")), keep) == []
    assert keep_job(job(JobKept("a bug")), end) == [("job/1", JobKeepEnded("fixed"))]
    assert keep_job(job(), end) == []
    with pytest.raises(Refused, match="have been deleted"):
        keep_job(job(DELETED), keep)


def test_tags__without_numbers_of_days__delete_nothing() -> None:
    assert RetentionTags().with_days == []
    assert RetentionTags([WEEK, RetentionTag("kept", 0)]).with_days == [WEEK]
