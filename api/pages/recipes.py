"""The pages of a recipe: its state and results, and why it waits or got its system."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from falcon.asgi import Request, Response

from api.pages.actions import offered
from api.pages.job_actions import RECIPE, changeable_sets
from api.pages.page import page_view, show
from api.pages.security import HTML
from api.rest.context import query_of, request_of
from api.rest.contract.operation import operation
from api.rest.contract.queries import Explained, ReadQuery
from api.rest.ports import PageParts
from api.rest.resources.estimates import estimate_of_recipe
from api.rest.resources.explanations import explanation
from api.rest.resources.recipes import recipe_answer
from api.rest.views import View
from domain.recipe.lifecycle import BEFORE_START
from domain.scheduling.supply.reasons import shown_reason


class RecipePages:
    def __init__(self, parts: PageParts) -> None:
        self._parts = parts

    @operation("Show the page of a recipe", None, ReadQuery, gives=(HTML,))
    async def on_get(self, req: Request, resp: Response, recipe_id: int) -> None:
        view = await page_view(req, self._parts)
        _, recipe = await recipe_answer(self._parts, view, recipe_id)
        actions = await offered(self._parts, request_of(req), view, RECIPE, recipe_id, recipe)
        estimate = await self._estimate(view, recipe_id, recipe["state"], recipe["awaits_locks"])
        waiting = [recipe] if recipe["state"] in BEFORE_START else []
        values = {
            "recipe": recipe,
            "sentence": _sentence(recipe),
            "actions": actions,
            "changeable": await changeable_sets(self._parts, request_of(req), view, waiting),
            "estimate": estimate,
        }
        begin = recipe["history"][0]["since"]
        await show(req, resp, self._parts, view, "recipe.html", values, begin=begin)

    @operation("Show the page that explains a recipe", None, Explained, gives=(HTML,))
    async def on_get_why(self, req: Request, resp: Response, recipe_id: int) -> None:
        view, query = await page_view(req, self._parts), query_of(req, Explained)
        position, explained = await explanation(self._parts, view, recipe_id, query.system, query.limit)
        view = replace(view, at=view.at._replace(position=position))
        await self._parts.reader.reach(position, self._parts.max_waits.position_wait_seconds)
        awaits_locks = explained["locking"] is not None
        values = {
            "estimate": await self._estimate(view, recipe_id, explained["state"], awaits_locks),
            "recipe_id": recipe_id,
            "explanation": explained,
            "system": query.system,
            "sentence": f"Recipe {recipe_id}{_verb_phrase(explained)}: {shown_reason(explained['summary'])}",
            "verb_phrase": _verb_phrase(explained),
        }
        await show(req, resp, self._parts, view, "why.html", values)

    async def _estimate(
        self, view: View, recipe_id: int, state: str, awaits_locks: bool
    ) -> dict[str, Any] | None:
        """Return the estimate of a recipe that has not started, None for any other."""
        has_to_wait = state in BEFORE_START or awaits_locks
        return await estimate_of_recipe(self._parts, view, recipe_id) if has_to_wait else None


def _verb_phrase(explained: dict[str, Any]) -> str:
    """Return the verb phrase of a sentence about an explained recipe, empty for one that got its system."""
    if explained["granted"]:
        return ""
    waits = explained["waiting"] and explained["state"] in BEFORE_START
    return " waits" if waits or explained["locking"] else f" is {explained['state']}"


def _sentence(recipe: dict[str, Any]) -> str:
    """Return the state of a recipe as a sentence, for titles and the previews of chats."""
    where = f" on {recipe['system']}" if recipe["system"] else ""
    why = f": {shown_reason(recipe['reason'])}" if recipe["reason"] else ""
    return f"Recipe {recipe['recipe_id']} is {recipe['state']}{where}{why}"
