"""Submission of a job."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from api.request_context import RequestContext
from api.use_cases.choose_trees import distro_trees
from api.use_cases.commit import append, append_request
from api.use_cases.ports import JobParts
from domain.job.spec import JobSpec
from domain.job.submission import Original, counts, submit
from store.quota_counts import unfinished_count
from store.requests import Committed, require_committed


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
        await _require_recipes(parts, spec.owner or request.actor, counts(spec)[1])
    ids = await parts.numbers.take(counts(spec))
    decided = submit(spec, ids, request.actor, await distro_trees(parts, spec, request.actor), original)
    answer: dict[str, Any] = {
        "job_id": ids.job,
        "recipe_set_ids": ids.recipe_sets,
        "recipe_ids": ids.recipes,
        "warnings": warnings,
    }
    return require_committed(
        await append(parts, append_request(parts, request, decided, {}, orjson.dumps(answer), original))
    )


async def _require_recipes(parts: JobParts, owner: str, more: int) -> None:
    """Raise Refused if the owner would have more unfinished recipes than the quota allows."""
    if parts.quotas.may_exceed_recipes(owner, more):
        present = await asyncio.to_thread(unfinished_count, parts.log, owner)
        parts.quotas.require_recipes(owner, present, more)
