"""Cancellation of a job or a recipe set: of all its unfinished recipes."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import replace

from api.request_context import RequestContext
from api.use_cases.commit import commit_gathered, require_expected
from api.use_cases.ports import WriteParts
from api.use_cases.rights import own_job, own_recipe_set
from domain.events import Decided
from domain.read_set import ReadSet
from domain.recipe_set.ending import cancel_set
from store.requests import Committed


async def cancel_job(
    parts: WriteParts, request: RequestContext, job_id: int, reason: str
) -> Committed | None:
    """Cancel a job in one commit; return None if it has finished. Raises Unknown or NotPermitted."""
    job = await asyncio.to_thread(own_job, parts, request, job_id)
    require_expected(request, job.subject, job.version)
    return await _cancel(parts, replace(request, expected=None), job.recipe_set_ids, reason)


async def cancel_recipe_set(
    parts: WriteParts, request: RequestContext, recipe_set_id: int, reason: str
) -> Committed | None:
    """Cancel a recipe set; return None if it has finished. Raises Unknown, or NotPermitted as `own_job`."""
    await asyncio.to_thread(own_recipe_set, parts, request, recipe_set_id)
    return await _cancel(parts, request, (recipe_set_id,), reason)


async def _cancel(
    parts: WriteParts, request: RequestContext, recipe_set_ids: Iterable[int], reason: str
) -> Committed | None:
    set_ids = tuple(recipe_set_ids)

    def decide(gathered: ReadSet) -> Decided:
        return [change for set_id in set_ids for change in cancel_set(gathered.members(set_id), reason)]

    return await commit_gathered(parts, request, (f"recipe-set/{set_id}" for set_id in set_ids), decide)
