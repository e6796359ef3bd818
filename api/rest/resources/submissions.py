"""Submission of a job, of several in one commit, or of further sets of a job, from their submitted bytes."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from api.rest.context import Principal
from api.rest.ports import SubmissionParts
from api.rest.resources.job_bodies import located, read_added_sets, read_jobs, warnings_document
from api.use_cases.extend_job import JobExtension, extend_job
from api.use_cases.own_partition import partition_of
from api.use_cases.ports import RequestContext
from api.use_cases.rights import own_job
from api.use_cases.submit_job import AcceptedJob, submit_job, submit_jobs
from domain.errors import Fault, FaultyInput
from domain.job.submission import Original
from store.requests import Committed


async def submit_body(
    parts: SubmissionParts,
    principal: Principal,
    request: RequestContext,
    original: Original,
    *,
    strict: bool = False,
    origin: int | None = None,
    warnings: Sequence[Fault] = (),
) -> Committed:
    """Submit what the bytes contain; the commit's answer is that of `submit_job` or `submit_jobs`.

    `origin` is the job that was copied; the answer begins with `warnings`. Raises the errors of
    `read_jobs` and `submit_job`, and FaultyInput for a list of jobs as a copy; faults have the lines of the
    bytes.
    """
    body, kind = original.content, original.media_type
    read = await read_jobs(parts, principal, body, kind, strict=strict)
    if read.is_list and origin is not None:
        raise FaultyInput([Fault("jobs", "a copy of a job must be one job, not a list")])
    jobs = [AcceptedJob(job.spec, warnings_document([*warnings, *job.warnings]), origin) for job in read.jobs]
    try:
        if read.is_list:
            return await submit_jobs(parts, request, jobs, original)
        return await submit_job(parts, request, *jobs[0][:2], original, origin=origin)
    except FaultyInput as error:
        raise await located(parts, principal, body, kind, error) from error


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
