"""A job is submitted."""

from __future__ import annotations

from typing import Any

import orjson

from api.services import Request, Services
from api.store.requests import Committed, committed
from api.use_cases.choose_trees import distro_trees
from api.use_cases.commit import append_of
from domain.job.spec import JobSpec
from domain.job.submission import counts, submit


async def submit_job(services: Services, request: Request, spec: JobSpec) -> Committed:
    """Put an accepted job into the log; the commit's answer is {"job_id", "recipe_set_ids", "recipe_ids"}."""
    ids = await services.numbers.take(counts(spec))
    decided = submit(spec, ids, request.actor, await distro_trees(services, spec, request.actor))
    answer: dict[str, Any] = {
        "job_id": ids.job,
        "recipe_set_ids": ids.recipe_sets,
        "recipe_ids": ids.recipes,
    }
    return committed(
        await services.append(append_of(services, request, decided, {}, answer=orjson.dumps(answer)))
    )
