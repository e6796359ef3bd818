"""A job is submitted."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from api.services import Request, Services
from api.store.requests import Committed, committed
from api.store.written import unfinished_count
from api.use_cases.commit import append_of
from domain.job.spec import JobSpec
from domain.job.submission import counts, submit
from domain.scheduling.distro_trees import Chosen


async def submit_job(
    services: Services, request: Request, spec: JobSpec, warnings: Sequence[Mapping[str, str]] = ()
) -> Committed:
    """Put an accepted job into the log.

    The commit's answer is {"job_id", "recipe_set_ids", "recipe_ids", "warnings"}.
    """
    if request.has_quota:
        await _require_recipes(services, spec.owner or request.actor, counts(spec)[1])
    ids = await services.numbers.take(counts(spec))
    decided = submit(spec, ids, request.actor, await distro_trees(services, spec, request.actor))
    answer: dict[str, Any] = {
        "job_id": ids.job,
        "recipe_set_ids": ids.recipe_sets,
        "recipe_ids": ids.recipes,
        "warnings": warnings,
    }
    return committed(
        await services.append(append_of(services, request, decided, {}, answer=orjson.dumps(answer)))
    )


async def _require_recipes(services: Services, owner: str, more: int) -> None:
    """Raise Refused when the owner would have more unfinished recipes than the quota allows."""
    if services.quotas.may_exceed_recipes(owner, more):
        present = await asyncio.to_thread(unfinished_count, services.log, owner)
        services.quotas.require_recipes(owner, present, more)


async def distro_trees(services: Services, spec: JobSpec, submitter: str) -> list[int | None]:
    """Of each recipe, in document order. What nobody could run is judged against the end of the log."""
    chosen = await _chosen(services, spec, submitter)
    if any(each.hopeless for each in chosen):
        await services.feed.catch_up()
        chosen = await _chosen(services, spec, submitter)
    return [tree_id for each in chosen for tree_id in each.tree_ids]


async def _chosen(services: Services, spec: JobSpec, submitter: str) -> list[Chosen]:
    """Set by set: of a large job others are answered in between."""
    chosen: list[Chosen] = []
    for recipe_set in spec.recipe_sets:
        if chosen:
            await asyncio.sleep(0)
        chosen.append(services.feed.distro_trees.choose(recipe_set, spec.owner or submitter, spec.group))
    return chosen
