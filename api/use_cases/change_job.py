"""Changes of submitted jobs: fields, priority, cancellation, return and release of recipes."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from api.use_cases.commit import append_for, commit, commit_aggregates, require_expected
from api.use_cases.ports import JobParts, RequestContext, WriteParts
from api.use_cases.rights import (
    own_job,
    own_or_administered_job,
    own_or_administered_set,
    own_recipe,
    require_own_lab,
)
from domain.errors import Refused, Unknown, display_name
from domain.events import Decided
from domain.job.state import change_job as decide_change
from domain.job.state import close_job
from domain.priority import Priority
from domain.read_set import ReadSet
from domain.recipe_set.ending import abort, cancel_set
from domain.recipe_set.kept_systems import give_back
from domain.recipe_set.state import change_priority as decide_priority
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
        return append_for(parts, request, decided, {job.subject: job.version}) if decided else None

    return await commit(parts, lambda: asyncio.to_thread(attempt))


async def change_priority(
    parts: WriteParts, request: RequestContext, recipe_set_id: int, priority: Priority
) -> Committed | None:
    """Change the priority; None if it is the same.

    Raises the errors of `own_or_administered_job`, and Refused after the start.
    """
    recipe_set = await asyncio.to_thread(own_or_administered_set, parts, request, recipe_set_id)

    def decide(gathered: ReadSet) -> Decided:
        present = gathered.recipe_set(recipe_set_id)
        assert present is not None, "recipe sets are never removed"
        return decide_priority(present, gathered.members(recipe_set_id), priority)

    return await commit_aggregates(parts, request, (recipe_set.subject,), decide)


async def cancel_job(
    parts: WriteParts, request: RequestContext, job_id: int, reason: str
) -> Committed | None:
    """Cancel a job in one commit, which also closes an open one; return None if it has finished.

    Raises the errors of `own_or_administered_job`.
    """

    def attempt() -> AppendRequest | None:
        job = own_or_administered_job(parts, request, job_id)
        require_expected(request, job.subject, job.version)
        gathered = parts.aggregates.gather(map(_set_subject, job.recipe_set_ids))
        sets = (gathered.members(set_id) for set_id in job.recipe_set_ids)
        decided = [change for members in sets for change in cancel_set(members, reason)]
        decided += close_job(job, reason)
        # A set that is added to an open job in the same moment is a conflict.
        of_job = {job.subject: job.version} if job.is_open else {}
        versions = {**gathered.versions, **of_job}
        return append_for(parts, request, decided, versions) if decided else None

    return await commit(parts, lambda: asyncio.to_thread(attempt))


async def cancel_recipe_set(
    parts: WriteParts, request: RequestContext, recipe_set_id: int, reason: str
) -> Committed | None:
    """Cancel a recipe set; return None if it has finished. Raises the errors of `own_or_administered_job`."""
    await asyncio.to_thread(own_or_administered_set, parts, request, recipe_set_id)

    def decide(gathered: ReadSet) -> Decided:
        return cancel_set(gathered.members(recipe_set_id), reason)

    return await commit_aggregates(parts, request, (_set_subject(recipe_set_id),), decide)


async def cancel_waiting_sets(
    parts: WriteParts, request: RequestContext, job_id: int, reason: str
) -> Committed | None:
    """Cancel the recipe sets of a job that have not started; return None if none is left.

    Raises the errors of `own_or_administered_job`.
    """
    job = await asyncio.to_thread(own_or_administered_job, parts, request, job_id)

    def decide(gathered: ReadSet) -> Decided:
        sets = (gathered.members(set_id) for set_id in job.recipe_set_ids)
        return [change for members in sets if not members.started for change in cancel_set(members, reason)]

    if not job.recipe_set_ids:
        return None
    return await commit_aggregates(parts, request, map(_set_subject, job.recipe_set_ids), decide)


def _set_subject(recipe_set_id: int) -> str:
    return f"recipe-set/{recipe_set_id}"


async def return_recipe(
    parts: WriteParts, request: RequestContext, recipe_id: int, reason: str | None = None
) -> Committed | None:
    """End a reserved recipe; None if it has ended. Raises Unknown, NotPermitted, Refused if not reserved."""
    await asyncio.to_thread(own_recipe, parts, request, recipe_id)

    def decide(gathered: ReadSet) -> Decided:
        recipe = gathered.recipe(recipe_id)
        assert recipe is not None, "recipes are never removed"
        return give_back(gathered.members(recipe.recipe_set_id), recipe, reason)

    return await commit_aggregates(parts, request, (f"recipe/{recipe_id}",), decide)


async def release_recipe(
    parts: WriteParts, request: RequestContext, lab_controller: str | None, recipe_id: int, reason: str
) -> Committed | None:
    """Take a recipe off its system: a reserved recipe ends, any other is aborted; None if it has ended.

    `lab_controller` is the reporting one, None for an admin. Raises Unknown, NotPermitted for a recipe of
    another lab, and Refused for a recipe without a system.
    """

    def decide(gathered: ReadSet) -> Decided:
        recipe = gathered.recipe(recipe_id)
        if recipe is None:
            raise Unknown(display_name("recipe", recipe_id))
        if recipe.system is None:
            raise Refused(f"recipe {recipe_id} is {recipe.state} and has no system")
        require_own_lab(lab_controller, recipe.subject, recipe.lab_controller)
        members = gathered.members(recipe.recipe_set_id)
        return give_back(members, recipe) if recipe.state == "reserved" else abort(members, recipe, reason)

    return await commit_aggregates(parts, request, (f"recipe/{recipe_id}",), decide)
