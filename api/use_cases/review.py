"""Reviews of ended recipe sets, and waivers of their failures, by people."""

from __future__ import annotations

import asyncio

from api.use_cases.commit import commit_aggregates
from api.use_cases.ports import RequestContext, WriteParts
from api.use_cases.rights import own_or_administered_recipe, own_or_administered_set
from domain.events import Decided
from domain.read_set import ReadSet
from domain.recipe_set.review import WaiverChange
from domain.recipe_set.review import review_set as decide_review
from domain.recipe_set.review import waive_set as decide_set_waiver
from domain.recipe_set.review import waive_task as decide_task_waiver
from domain.recipe_set.state import RecipeSet
from store.requests import Committed


async def review_set(
    parts: WriteParts, request: RequestContext, recipe_set_id: int, review: str, reason: str
) -> Committed | None:
    """Review a recipe set; return None if the review is the same.

    Raises the errors of `own_or_administered_job`, and Refused for a set that has not ended.
    """
    await asyncio.to_thread(own_or_administered_set, parts, request, recipe_set_id)

    def decide(gathered: ReadSet) -> Decided:
        return decide_review(_set(gathered, recipe_set_id), gathered.members(recipe_set_id), review, reason)

    return await commit_aggregates(parts, request, (f"recipe-set/{recipe_set_id}",), decide)


async def waive_set(
    parts: WriteParts, request: RequestContext, recipe_set_id: int, change: WaiverChange
) -> Committed | None:
    """Waive all failures of a recipe set, or end this waiver; return None if it is so already.

    Raises the errors of `own_or_administered_job`, and Refused as the decision does.
    """
    await asyncio.to_thread(own_or_administered_set, parts, request, recipe_set_id)

    def decide(gathered: ReadSet) -> Decided:
        return decide_set_waiver(_set(gathered, recipe_set_id), gathered.members(recipe_set_id), change)

    return await commit_aggregates(parts, request, (f"recipe-set/{recipe_set_id}",), decide)


async def waive_task(
    parts: WriteParts, request: RequestContext, recipe_id: int, task_id: int, change: WaiverChange
) -> Committed | None:
    """Waive the failure of a task, or end this waiver; return None if it is so already.

    Raises the errors of `own_or_administered_job`, and Unknown and Refused as the decision does.
    """
    recipe = await asyncio.to_thread(own_or_administered_recipe, parts, request, recipe_id)
    recipe_set_id = recipe.recipe_set_id

    def decide(gathered: ReadSet) -> Decided:
        of_set = _set(gathered, recipe_set_id), gathered.members(recipe_set_id)
        return decide_task_waiver(*of_set, recipe_id, task_id, change)

    return await commit_aggregates(parts, request, (recipe.subject,), decide)


def _set(gathered: ReadSet, recipe_set_id: int) -> RecipeSet:
    found = gathered.recipe_set(recipe_set_id)
    assert found is not None, "recipe sets are never removed"
    return found
