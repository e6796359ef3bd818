"""The pages of a recipe: what it does, and why it waits or got its system."""

from __future__ import annotations

from typing import Any, Final

from falcon.asgi import Request, Response

from api.pages.page import show
from api.pages.security import HTML
from api.rest.contract.operation import operation
from api.rest.contract.queries import ReadQuery
from api.rest.ports import ExplainParts
from api.rest.resources.explanations import explanation
from api.rest.resources.recipes import recipe_answer
from api.rest.views import read_view

# Systems of an explanation, the nearest ones first; the page says how many there are.
MAX_SYSTEMS: Final = 100


class RecipePages:
    def __init__(self, parts: ExplainParts) -> None:
        self._parts = parts

    @operation("Show the page of a recipe", None, ReadQuery, gives=(HTML,))
    async def on_get(self, req: Request, resp: Response, recipe_id: int) -> None:
        view = await read_view(req, self._parts)
        _, recipe = await recipe_answer(self._parts, view, recipe_id)
        values = {"recipe": recipe, "sentence": _sentence(recipe)}
        await show(req, resp, self._parts, view, "recipe.html", values)

    @operation("Show the page that explains a recipe", None, ReadQuery, gives=(HTML,))
    async def on_get_why(self, req: Request, resp: Response, recipe_id: int) -> None:
        view = await read_view(req, self._parts)
        _, explained = await explanation(self._parts, view, recipe_id, None, MAX_SYSTEMS)
        sentence = f"Recipe {recipe_id}: {explained['summary']}"
        values = {"recipe_id": recipe_id, "explanation": explained, "sentence": sentence}
        await show(req, resp, self._parts, view, "why.html", values)


def _sentence(recipe: dict[str, Any]) -> str:
    """Return the state of a recipe as a sentence, for titles and the previews of chats."""
    where = f" on {recipe['system']}" if recipe["system"] else ""
    why = f": {recipe['reason']}" if recipe["reason"] else ""
    return f"Recipe {recipe['recipe_id']} is {recipe['state']}{where}{why}"
