"""A person cancels a job: everything of it that is not finished."""

from __future__ import annotations

import asyncio

from api.services import Request, Services, committed, new_command_id
from api.store.event_log import EventLog
from api.store.requests import Append, Committed, Conflict
from domain.directory.state import Directory
from domain.errors import NotPermitted, Unknown
from domain.events import Change
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
    while True:
        append = await asyncio.to_thread(_decide, services, request, recipe_ids, reason)
        if append is None:
            return None
        outcome = await services.append(append)
        if not isinstance(outcome, Conflict):
            return committed(outcome)


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
    changes: list[Change] = []
    expected: dict[str, int] = {}
    stamp = services.stamp(request)
    for recipe in recipes:
        system = systems.get(f"system/{recipe.system}")
        assert system is None or isinstance(system, System)
        for subject, event in cancel(recipe, system, reason):
            changes.append(Change(subject, event, stamp))
            expected[subject] = (
                recipe.version if subject == recipe.subject or system is None else system.version
            )
    if not changes:
        return None
    return Append(
        command_id=request.command_id or new_command_id(),
        changes=tuple(changes),
        expected=expected,
        digest=request.digest,
    )
