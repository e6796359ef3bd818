"""Change of the priority of a waiting recipe set."""

from __future__ import annotations

import asyncio

from api.request_context import RequestContext
from api.use_cases.commit import commit_gathered
from api.use_cases.ports import WriteParts
from api.use_cases.rights import own_recipe_set
from domain.events import Decided
from domain.priority import Priority
from domain.read_set import ReadSet
from domain.recipe_set.priority import change_priority as decide_priority
from store.requests import Committed


async def change_priority(
    parts: WriteParts, request: RequestContext, recipe_set_id: int, priority: Priority
) -> Committed | None:
    """Change the priority; return None if the set has it.

    Raises Unknown, NotPermitted as `own_job` does, and Refused once the set has started.
    """
    recipe_set = await asyncio.to_thread(own_recipe_set, parts, request, recipe_set_id)

    def decide(gathered: ReadSet) -> Decided:
        now = gathered.recipe_set(recipe_set_id)
        assert now is not None, "a recipe set stays"
        return decide_priority(now, gathered.members(recipe_set_id), priority)

    return await commit_gathered(parts, request, (recipe_set.subject,), decide)
