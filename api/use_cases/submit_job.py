"""A job is submitted."""

from __future__ import annotations

import asyncio
from typing import Any

import orjson

from api.services import Request, Services, committed, new_command_id
from api.store.requests import Append, Committed
from domain.events import Change
from domain.job.spec import JobSpec
from domain.job.submission import counts, submit


async def submit_job(services: Services, request: Request, spec: JobSpec) -> Committed:
    """Put an accepted job into the log; the commit's answer is {"job_id", "recipe_set_ids", "recipe_ids"}."""
    ids = await asyncio.to_thread(services.log.take_ids, *counts(spec))
    decided = submit(spec, ids, request.actor, services.feed.directory.tree_for)
    answer: dict[str, Any] = {
        "job_id": ids.job,
        "recipe_set_ids": ids.recipe_sets,
        "recipe_ids": ids.recipes,
    }
    stamp = services.stamp(request)
    append = Append(
        command_id=request.command_id or new_command_id(),
        changes=tuple(Change(subject, event, stamp) for subject, event in decided),
        expected={subject: 0 for subject, _ in decided},
        digest=request.digest,
        answer=orjson.dumps(answer),
    )
    return committed(await services.append(append))
