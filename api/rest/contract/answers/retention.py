"""Answers about the retention of results and logs."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from api.rest.contract.answers.common import Answer, AnswerPart
from api.rest.contract.values import Fqdn, Id, Time


class Kept(AnswerPart):
    """The person who keeps the results and logs of a job, the time and the reason."""

    by: str
    at: Time
    reason: str


class ResultsDeleted(AnswerPart):
    """The deletion of the results and logs of a job by its `tag`, whose `days` after its end were over."""

    tag: str
    days: int
    at: Time
    position: int


class RetentionTagState(AnswerPart):
    """A retention tag; with 0 `days` it deletes nothing. `due_job_count`: the number of jobs due now."""

    name: str
    days: int
    needs_product: bool
    due_job_count: int


class DueDeletion(AnswerPart):
    """An ended job whose results and logs the tag deletes now. `log_bytes` are those that labs have reported.

    `lab_controllers` get commands to delete their logs.
    """

    job_id: Id
    owner: str
    partition: str
    tag: str
    days: int
    ended_at: Time
    result_count: int
    log_count: int
    log_bytes: int
    lab_controllers: list[Fqdn]


class LogDeletions(AnswerPart):
    """The commands of a lab controller to delete the logs of jobs: those not finished yet, and failed ones.

    Those of a lab controller that was removed fail after seven days: nobody could finish them.
    """

    lab_controller: Fqdn
    waiting_count: int
    failed_count: int


class Retention(Answer):
    """The retention tags, and the jobs whose results go next, the first that ended first."""

    tags: list[RetentionTagState]
    jobs: Annotated[list[DueDeletion], Field(description="at most `limit`, also if more are due")]
    log_deletions: Annotated[
        list[LogDeletions],
        Field(description="lab controllers with logs to delete, or that could not be deleted"),
    ]


class JobKept(Answer):
    job_id: Id
    changed: bool
