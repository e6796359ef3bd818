"""Submission of a job, of several in one commit, or of further sets of a job, from their submitted bytes."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import NamedTuple

from api.rest.context import Principal
from api.rest.ports import SubmissionParts
from api.rest.resources.job_bodies import located, read_added_sets, read_jobs, warnings_document
from api.use_cases.extend_job import JobExtension, extend_job
from api.use_cases.own_partition import partition_of
from api.use_cases.ports import RequestContext
from api.use_cases.rights import own_job
from api.use_cases.submit_job import AcceptedJob, submit_job, submit_jobs
from domain.errors import Fault, FaultyInput
from domain.job.submission import Ids, Original
from store.requests import Committed


class ValidSubmission(NamedTuple):
    """The submitted bytes, and the valid job or jobs in them; `is_list` as in `ReadJobs`."""

    original: Original
    jobs: Sequence[AcceptedJob]
    is_list: bool


async def submit_body(
    parts: SubmissionParts,
    principal: Principal,
    request: RequestContext,
    original: Original,
    *,
    strict: bool = False,
    origin: int | None = None,
    warnings: Sequence[Fault] = (),
    one_job: str | None = None,
) -> Committed:
    """Submit the job or jobs in the bytes; the commit's answer is that of `submit_job` or `submit_jobs`.

    The parameters are those of `validate_submission`. Raises its errors and those of `submit_valid`.
    """
    submission = await validate_submission(
        parts, principal, original, strict=strict, origin=origin, warnings=warnings, one_job=one_job
    )
    return await submit_valid(parts, principal, request, submission)


async def validate_submission(
    parts: SubmissionParts,
    principal: Principal,
    original: Original,
    *,
    strict: bool = False,
    origin: int | None = None,
    warnings: Sequence[Fault] = (),
    one_job: str | None = None,
) -> ValidSubmission:
    """Return the valid job or jobs in the bytes. Their warnings begin with the given ones.

    `origin` is the job that was copied. With `one_job`, the name of the job in messages, a list is refused.
    Raises the errors of `read_jobs`, and FaultyInput for a list that is refused.
    """
    read = await read_jobs(parts, principal, original.content, original.media_type, strict=strict)
    if read.is_list and one_job is not None:
        raise FaultyInput([Fault("jobs", f"{one_job} must be one job, not a list")])
    jobs = [AcceptedJob(job.spec, warnings_document([*warnings, *job.warnings]), origin) for job in read.jobs]
    return ValidSubmission(original, jobs, read.is_list)


async def submit_valid(
    parts: SubmissionParts,
    principal: Principal,
    request: RequestContext,
    submission: ValidSubmission,
    ids: Ids | None = None,
) -> Committed:
    """Submit the valid job or jobs. `ids` are those of a single job, by default new ones.

    Raises the errors of `submit_job` and `submit_jobs`. Faults have the lines of the submitted bytes.
    """
    original = submission.original
    try:
        if submission.is_list:
            return await submit_jobs(parts, request, submission.jobs, original)
        spec, warnings, origin = submission.jobs[0]
        return await submit_job(parts, request, spec, warnings, original, origin=origin, ids=ids)
    except FaultyInput as error:
        raise await located(parts, principal, original.content, original.media_type, error) from error


async def add_body(
    parts: SubmissionParts,
    principal: Principal,
    request: RequestContext,
    job_id: int,
    body: bytes,
    kind: str,
    *,
    strict: bool = False,
) -> JobExtension:
    """Add the recipe sets that the bytes contain to an open job, or change those with the same keys.

    Raises the errors of `read_added_sets` and `extend_job`.
    """
    job = await asyncio.to_thread(own_job, parts, request, job_id)
    partition = await partition_of(parts, job)
    read = await read_added_sets(parts, principal, body, kind, job, partition.name, strict=strict)
    return await extend_job(parts, request, job, read.spec, warnings_document(read.warnings))
