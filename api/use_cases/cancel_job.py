"""A person cancels a job: everything of it that is not finished."""

from __future__ import annotations

import asyncio

from api.services import Request, Services
from api.store.event_log import EventLog
from api.store.requests import Append, Committed
from api.use_cases.commit import append_of, commit
from domain.directory.state import Directory
from domain.errors import NotPermitted, Unknown
from domain.events import Decided
from domain.job.events import JobSubmitted, RecipeSetSubmitted
from domain.recipe.cancellation import cancel
from domain.recipe.state import Recipe
from domain.system.state import System


async def cancel_job(
    services: Services, request: Request, job_id: int, reason: str, *, is_admin: bool
) -> Committed | None:
    """One commit for the whole job; None when all of it is finished.

    Raises Unknown, or NotPermitted for who is neither admin, nor its owner or submitter, nor in its group.
    """
    job, recipe_ids = await asyncio.to_thread(_members, services.log, job_id)
    if not is_admin and not _may_cancel(services.feed.directory, job, request.actor):
        raise NotPermitted(f"job {job_id} belongs to {job.owner}")
    return await commit(services, lambda: asyncio.to_thread(_decide, services, request, recipe_ids, reason))


def _members(log: EventLog, job_id: int) -> tuple[JobSubmitted, list[int]]:
    """What was submitted, and the ids of all its recipes."""
    past = log.load({f"job/{job_id}": 0})[f"job/{job_id}"]
    if not past or not isinstance(past[0].event, JobSubmitted):
        raise Unknown(f"job {job_id}")
    job = past[0].event
    sets = log.load({f"recipe-set/{set_id}": 0 for set_id in job.recipe_set_ids})
    firsts = [events[0].event for events in sets.values()]
    return job, [r for first in firsts if isinstance(first, RecipeSetSubmitted) for r in first.recipe_ids]


def _may_cancel(directory: Directory, job: JobSubmitted, actor: str) -> bool:
    group = directory.get("group", job.group) if job.group else None
    return actor in (job.owner, job.submitter) or (group is not None and actor in group.document["members"])


def _decide(services: Services, request: Request, recipe_ids: list[int], reason: str) -> Append | None:
    load = services.aggregates.load
    recipes = [r for r in load(f"recipe/{i}" for i in recipe_ids).values() if isinstance(r, Recipe)]
    systems = load(f"system/{recipe.system}" for recipe in recipes if recipe.system and not recipe.finished)
    decided: Decided = []
    for recipe in recipes:
        system = systems.get(f"system/{recipe.system}")
        assert system is None or isinstance(system, System)
        decided += cancel(recipe, system, reason)
    versions = {state.subject: state.version for state in (*recipes, *systems.values())}
    return append_of(services, request, decided, versions) if decided else None
