"""Return of a reserved recipe's system by a person, or its release by the lab controller."""

from __future__ import annotations

import asyncio

from api.request_context import RequestContext
from api.use_cases.commit import commit_gathered
from api.use_cases.ports import WriteParts
from api.use_cases.rights import own_recipe, require_own_lab
from domain.errors import Refused, Unknown
from domain.events import Decided
from domain.names import display_name
from domain.read_set import ReadSet
from domain.recipe_set.ending import abort
from domain.recipe_set.kept_systems import give_back
from store.requests import Committed


async def return_recipe(parts: WriteParts, request: RequestContext, recipe_id: int) -> Committed | None:
    """End a recipe that keeps its system; return None if it has ended.

    Raises Unknown, NotPermitted as `own_job` does, and Refused for a recipe that is not reserved.
    """
    await asyncio.to_thread(own_recipe, parts, request, recipe_id)

    def decide(gathered: ReadSet) -> Decided:
        recipe = gathered.recipe(recipe_id)
        assert recipe is not None, "a recipe stays"
        return give_back(gathered.members(recipe.recipe_set_id), recipe)

    return await commit_gathered(parts, request, (f"recipe/{recipe_id}",), decide)


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

    return await commit_gathered(parts, request, (f"recipe/{recipe_id}",), decide)
