"""/recipes/{id}/estimate"""

from __future__ import annotations

from typing import Any, Final

from falcon.asgi import Request, Response

from api.rest import paging
from api.rest.cached_waits import CachedWaits
from api.rest.contract import queries
from api.rest.contract.answers import waits as answers
from api.rest.contract.operation import operation
from api.rest.estimates import compared_recipe, estimates_of
from api.rest.ports import ReadParts
from api.rest.views import View, read_view
from domain.errors import Unknown, display_name
from domain.recipe.lifecycle import FINISHED

_NO_ESTIMATE: Final = dict.fromkeys(
    ("waited_seconds", "ahead", "p50_seconds", "p90_seconds", "more_than_seconds", "basis")
)


class Estimates:
    def __init__(self, parts: ReadParts) -> None:
        self._parts = parts

    @operation("Estimate when a waiting recipe starts", answers.Estimate, queries.ReadQuery)
    async def on_get(self, req: Request, resp: Response, recipe_id: int) -> None:
        view = await read_view(req, self._parts)
        paging.answer_read(resp, view.at, await estimate_of_recipe(self._parts, view, recipe_id))


async def estimate_of_recipe(parts: ReadParts, view: View, recipe_id: int) -> dict[str, Any]:
    """Return the estimate for a recipe, a guest's being that of its host. Raises Unknown."""
    row = await parts.reader.row("wait_of_recipe", {"at": view.position, "recipe_id": recipe_id})
    if row is None:
        raise Unknown(display_name("recipe", recipe_id))
    answer = {"recipe_id": recipe_id, "state": row["state"]}
    if row["began"] is None:
        return {**answer, **_NO_ESTIMATE, "summary": _without_wait(row)}
    now = paging.moment_of(view.at, parts)
    cached = CachedWaits(view.position, now, row["waiting_id"])
    (found,) = await estimates_of(parts, cached, [compared_recipe(row, now)])
    return {**answer, **found}


def _without_wait(row: dict[str, Any]) -> str:
    if row["state"] in FINISHED:
        return f"the recipe is {row['state']}"
    if row["state"] in ("new", "queued", "assigned", "scheduled") or row["awaits_locks"]:
        return "the recipe waits since before waits were recorded: only `labledger replay rebuild` adds them"
    return "the recipe has started"
