"""/claims: the claims of waiting recipes to busy systems."""

from __future__ import annotations

from falcon.asgi import Request, Response

from api.rest import paging
from api.rest.context import query_of
from api.rest.contract import queries
from api.rest.contract.answers import claims as answers
from api.rest.contract.operation import operation
from api.rest.ports import ReadParts
from api.rest.views import View, read_view
from domain.errors import Unknown, display_name
from domain.recipe.lifecycle import UNPLACED
from projections.read_sessions import NamedQuery, Row
from projections.sql import ANY_CLAIM

# The key before all others: the id of a recipe.
BEFORE_ALL = 0


async def claim_list(
    parts: ReadParts, view: View, query: queries.ClaimPage, page: paging.PageAt
) -> paging.Listed:
    """Return a page of the claims, by recipe, without those to hidden systems."""
    params = {"at": view.position, "limit": page.limit, "after": page.after, "hidden": view.hidden_rows}
    rows = await parts.reader.rows("claims", params | query.filters())
    return paging.listed(page, rows, rows[-1]["recipe_id"] if rows else None)


class ClaimResource:
    def __init__(self, parts: ReadParts) -> None:
        self._parts = parts

    @operation(
        "List the claims of waiting recipes to busy systems, by recipe", answers.ClaimList, queries.ClaimPage
    )
    async def on_get(self, req: Request, resp: Response) -> None:
        view = await read_view(req, self._parts)
        page = paging.page_at(req, view.at, BEFORE_ALL)
        query = query_of(req, queries.ClaimPage)
        paging.answer_listed(req, resp, page, "claims", await claim_list(self._parts, view, query, page))

    @operation("Show the claim of a recipe", answers.ShownClaim, queries.ReadQuery)
    async def on_get_one(self, req: Request, resp: Response, recipe_id: int) -> None:
        view = await read_view(req, self._parts)
        claim = await _claim(self._parts, view, recipe_id)
        if claim is None:
            thing = display_name("recipe", recipe_id)
            if await self._parts.reader.row("recipe", {"at": view.position, "recipe_id": recipe_id}):
                raise Unknown("claim", f"{thing} has no claim")
            raise Unknown(thing)
        paging.answer_read(resp, view.at, claim)


async def claim_of_recipe(parts: ReadParts, view: View, recipe: Row) -> Row | None:
    """Return system, forced and since of the claim of a recipe; None without one, or to a hidden system."""
    if recipe["state"] not in UNPLACED:
        return None
    claim = await _claim(parts, view, recipe["recipe_id"])
    return claim and {name: claim[name] for name in answers.RecipeClaim.model_fields}


def claim_query(view: View, **wanted: str | int) -> NamedQuery:
    """Return the query for the claim of a `recipe_id`, or to a `system`."""
    found = {"at": view.position, "hidden": view.hidden_rows, "after": 0, "limit": 1}
    return "claims", {**ANY_CLAIM, **found, **wanted}


async def _claim(parts: ReadParts, view: View, recipe_id: int) -> Row | None:
    return await parts.reader.row(*claim_query(view, recipe_id=recipe_id))
