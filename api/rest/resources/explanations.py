"""/recipes/{id}/explanation"""

from __future__ import annotations

import asyncio
from typing import Any

from falcon.asgi import Request, Response

from api.rest import concerned_partitions, paging, visibility
from api.rest.context import query_of
from api.rest.contract import queries
from api.rest.contract.answers import explanations as answers
from api.rest.contract.operation import operation
from api.rest.ports import ExplainParts
from api.rest.views import View, read_view
from domain.recipe.lifecycle import UNPLACED
from domain.recipe.state import Recipe


class Explanations:
    def __init__(self, parts: ExplainParts) -> None:
        self._parts = parts

    @operation("Explain why a recipe waits, or why it got its system", answers.Explanation, queries.Explained)
    async def on_get(self, req: Request, resp: Response, recipe_id: int) -> None:
        query = query_of(req, queries.Explained)
        view = await read_view(req, self._parts)
        position, body = await explanation(self._parts, view, recipe_id, query.system, query.limit)
        paging.answer(resp, position, body)


async def explanation(
    parts: ExplainParts, view: View, recipe_id: int, system: str | None, limit: int
) -> tuple[int, dict[str, Any]]:
    """Return why a recipe waits, or why it got its system, with the position that this reflects.

    An explanation of the present reflects the end of the log, which may be after the position of the view.
    `limit` is the maximum number of systems, `system` the only one. Raises Unknown and FaultyInput.
    """
    at = view.at
    if system is not None:
        view.require_visible(system)
    identity = await concerned_partitions.of_subject(parts, "recipe", recipe_id)
    if system is not None and not view.is_past:
        await concerned_partitions.require_in(parts, system, identity)
    explained = await parts.explainers.ask(
        identity,
        "recipe",
        is_past=await asyncio.to_thread(_is_placed_or_finished, parts, recipe_id),
        hidden=list(view.hidden),
        unknown=list(visibility.unknown_now(view.principal, parts)),
        recipe_id=recipe_id,
        at=at.position if view.is_past else None,
        now=paging.moment_of(at, parts),
        limit=limit,
        system=system,
    )
    position = explained.pop("position")
    return position, explained if at.moment is None else {"as_of": at.moment, **explained}


def _is_placed_or_finished(parts: ExplainParts, recipe_id: int) -> bool:
    """Return whether the explanation of a recipe is about an earlier moment, such as its grant. Blocking."""
    state = parts.aggregates.load([f"recipe/{recipe_id}"]).get(f"recipe/{recipe_id}")
    return isinstance(state, Recipe) and state.state not in UNPLACED
