"""/retention, /jobs/{id}/keep: what retention tags delete, and jobs that are kept"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from falcon.asgi import Request, Response

from api.concurrency_limits import share_of
from api.rest import paging, partitions
from api.rest.body import parse_model, read_json_bytes
from api.rest.context import keyed_request, query_of
from api.rest.contract import queries
from api.rest.contract.answers import retention as answers
from api.rest.contract.inputs.jobs import Keep
from api.rest.contract.operation import operation
from api.rest.ports import JobResourceParts
from api.use_cases.idempotency import commit_once
from api.use_cases.retention import due_deletions, keep_job, tag_params
from domain.job.retention import KeepChange
from domain.job.retention_tags import RetentionTag
from projections.reader import At


async def retention_answer(
    parts: JobResourceParts, at: At, other_tags: Sequence[RetentionTag], limit: int
) -> dict[str, Any]:
    """Return the tags, the configured ones without others, and the first jobs that are due at present."""
    tags = other_tags or tuple(parts.retention_tags)
    moment, with_days = parts.clock(), [tag for tag in tags if tag.days]
    rows = await due_deletions(parts.reader, with_days, moment, limit)
    counts = await parts.reader.rows("due_deletion_counts", tag_params(with_days, moment))
    due = {row["tag"]: row["due_job_count"] for row in counts}
    names = await partitions.names_at(parts, at, [row["partition"] for row in rows])
    return {
        "tags": [{**asdict(tag), "due_job_count": due.get(tag.name, 0)} for tag in tags],
        "jobs": [{**row, "partition": names[row["partition"]]} for row in rows],
        "log_deletions": await parts.reader.rows("log_deletions", {}),
    }


class Retention:
    def __init__(self, parts: JobResourceParts) -> None:
        self._parts = parts

    @operation(
        "Show the retention tags, and the jobs whose results they delete now: nothing is deleted by this",
        *(answers.Retention, queries.RetentionQuery),
    )
    async def on_get(self, req: Request, resp: Response) -> None:
        query = query_of(req, queries.RetentionQuery)
        reader = self._parts.reader
        if query.min_position > reader.position:
            with share_of(req).waiting():
                await reader.reach(query.min_position, self._parts.max_waits.position_wait_seconds)
        at = await reader.as_of(None)
        paging.answer(resp, at.position, await retention_answer(self._parts, at, query.tags, query.limit))

    @operation(
        "Keep the results and logs of a job, or let its retention tag apply again",
        answers.JobKept,
        body=Keep,
        keyed=True,
    )
    async def on_post_keep(self, req: Request, resp: Response, job_id: int) -> None:
        body = await read_json_bytes(req)
        wanted: Keep = await parse_model(req, body)
        request, change = keyed_request(req, body), KeepChange(wanted.kept, wanted.reason)
        done = await commit_once(
            self._parts.log, request, lambda: keep_job(self._parts, request, job_id, change)
        )
        await paging.answer_write(
            resp, self._parts.log, done, {"job_id": job_id, "changed": done is not None}
        )
