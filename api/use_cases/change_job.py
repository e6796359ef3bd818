"""A person changes what may be changed of a job afterwards: its whiteboard, and how long it is kept."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from api.services import Request, Services
from api.use_cases.commit import append_of, commit, require_expected
from api.use_cases.rights import own_job
from domain.job.change import change_job as decide_change
from store.requests import Append, Committed


async def change_job(
    services: Services, request: Request, job_id: int, changes: Mapping[str, str | None]
) -> Committed | None:
    """`changes` are those of `whiteboard`, `retention_tag` and `product` that were given; a product of None
    is none. None when all of it is so.

    Raises Unknown, NotPermitted for who is neither admin, nor its owner or submitter, nor in its group,
    Stale, and FaultyInput for a retention tag that does not go with the product.
    """

    def attempt() -> Append | None:
        job = own_job(services, request, job_id)
        require_expected(request, job.subject, job.version)
        decided = decide_change(job, changes, services.retention_tags)
        return append_of(services, request, decided, {job.subject: job.version}) if decided else None

    return await commit(services, lambda: asyncio.to_thread(attempt))
