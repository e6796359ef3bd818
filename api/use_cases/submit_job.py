"""Submission of jobs, and their submitted bytes."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from api.use_cases.choose_trees import distro_trees
from api.use_cases.commit import append, append_for
from api.use_cases.ports import JobParts, RequestContext
from domain.errors import Unknown
from domain.job.events import JobSubmitted
from domain.job.spec import JobSpec
from domain.job.submission import Original, counts, submit
from store.event_log import EventLog
from store.quota_counts import unfinished_count
from store.requests import Committed, require_committed
from store.sql import SQL


async def submit_job(
    parts: JobParts,
    request: RequestContext,
    spec: JobSpec,
    warnings: Sequence[Mapping[str, str]] = (),
    original: Original | None = None,
) -> Committed:
    """Append an accepted job to the log, and store its submitted bytes beside the log.

    The commit's answer is {"job_id", "recipe_set_ids", "recipe_ids", "warnings"}.
    """
    if request.has_quota:
        await _require_recipe_quota(parts, spec.owner or request.actor, counts(spec)[1])
    ids = await parts.numbers.take(counts(spec))
    decided = submit(spec, ids, request.actor, await distro_trees(parts, spec, request.actor), original)
    answer: dict[str, Any] = {
        "job_id": ids.job,
        "recipe_set_ids": ids.recipe_sets,
        "recipe_ids": ids.recipes,
        "warnings": warnings,
    }
    return require_committed(
        await append(parts, append_for(parts, request, decided, {}, orjson.dumps(answer), original))
    )


async def _require_recipe_quota(parts: JobParts, owner: str, more: int) -> None:
    """Raise Refused if the owner would have more unfinished recipes than the quota allows."""
    if parts.quotas.may_exceed_recipes(owner, more):
        present = await asyncio.to_thread(unfinished_count, parts.log, owner)
        parts.quotas.require_recipes(owner, present, more)


def original_of(log: EventLog, job_id: int) -> Original:
    """Return the submitted bytes of a job in the log. Blocking.

    Raises Unknown for a job that is older than the storage of these bytes.
    """
    subject = f"job/{job_id}"
    submitted = log.load({subject: 0})[subject][0].event
    assert isinstance(submitted, JobSubmitted), "the first event of a job"
    if submitted.original_sha256 is None or submitted.original_type is None:
        raise Unknown(f"original of job {job_id}", "the job was submitted before originals were stored")
    ((content,),) = log.rows(SQL["original"], (bytes.fromhex(submitted.original_sha256),))
    return Original(content, submitted.original_type)
