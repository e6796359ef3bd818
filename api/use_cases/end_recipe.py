"""A recipe gives its system back: a person returns it, or its lab controller releases it."""

from __future__ import annotations

import asyncio

from api.services import Request, Services
from api.use_cases.commit import commit_gathered
from api.use_cases.rights import own_recipe, require_own_lab
from domain.errors import Refused, Unknown
from domain.events import Decided
from domain.gathered import Gathered
from domain.names import called
from domain.recipe_set.ending import abort
from domain.recipe_set.keeping import give_back
from store.requests import Committed


async def return_recipe(services: Services, request: Request, recipe_id: int) -> Committed | None:
    """A recipe that keeps its system is over; None when it was.

    Raises Unknown, NotPermitted as its job does, Refused for a recipe that is not keeping its system.
    """
    await asyncio.to_thread(own_recipe, services, request, recipe_id)

    def decide(gathered: Gathered) -> Decided:
        recipe = gathered.recipe(recipe_id)
        assert recipe is not None, "a recipe stays"
        return give_back(gathered.members(recipe.recipe_set_id), recipe)

    return await commit_gathered(services, request, (f"recipe/{recipe_id}",), decide)


async def release_recipe(
    services: Services, request: Request, lab_controller: str | None, recipe_id: int, reason: str
) -> Committed | None:
    """Its lab has no system for it any more: one that keeps its system is over, any other is aborted.

    None when it has finished. `lab_controller` is the one that says so, None for an admin. Raises Unknown,
    NotPermitted for a recipe of another lab, Refused for one that has no system.
    """

    def decide(gathered: Gathered) -> Decided:
        recipe = gathered.recipe(recipe_id)
        if recipe is None:
            raise Unknown(called("recipe", recipe_id))
        if recipe.system is None:
            raise Refused(f"{recipe.subject} is {recipe.state}: it has no system")
        require_own_lab(lab_controller, recipe.subject, recipe.lab_controller)
        members = gathered.members(recipe.recipe_set_id)
        return give_back(members, recipe) if recipe.state == "reserved" else abort(members, recipe, reason)

    return await commit_gathered(services, request, (f"recipe/{recipe_id}",), decide)
