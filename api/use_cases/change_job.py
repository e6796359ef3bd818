"""Change of a submitted job: its whiteboard, retention tag and product."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from api.request_context import RequestContext
from api.use_cases.commit import append_request, commit, require_expected
from api.use_cases.ports import JobParts
from api.use_cases.rights import own_job
from domain.job.change import change_job as decide_change
from store.requests import AppendRequest, Committed


async def change_job(
    parts: JobParts, request: RequestContext, job_id: int, changes: Mapping[str, str | None]
) -> Committed | None:
    """Apply the given `whiteboard`, `retention_tag` and `product`; return None if nothing changes.

    A product of None removes it. Raises Unknown, NotPermitted as `own_job` does, Stale, and FaultyInput for
    a retention tag that does not allow the product.
    """

    def attempt() -> AppendRequest | None:
        job = own_job(parts, request, job_id)
        require_expected(request, job.subject, job.version)
        decided = decide_change(job, changes, parts.retention_tags)
        return append_request(parts, request, decided, {job.subject: job.version}) if decided else None

    return await commit(parts, lambda: asyncio.to_thread(attempt))
