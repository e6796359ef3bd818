"""/recipes and /queue"""

from __future__ import annotations

from typing import Any

from falcon.asgi import Request, Response

from api.rest import reading
from api.rest.body import read_model
from api.rest.models import ProgressItem
from api.rest.principal import principal_of, request_of
from api.rest.progress import read_report
from api.rest.shapes import queued_recipe, recipe_summary
from api.services import Services
from api.use_cases.report_progress import Item, report_progress
from domain.errors import LabledgerError, Unknown

# (not assigned, -priority, submission, recipe id) before all others.
QUEUE_START: list[Any] = [False, -(2**15), 0, 0]


class Recipes:
    def __init__(self, services: Services) -> None:
        self._services = services

    async def on_get(self, req: Request, resp: Response, recipe_id: int) -> None:
        reader = self._services.reader
        at = await reading.read_at(req, reader)
        asked = {"at": at, "job_id": None, "recipe_id": recipe_id}
        recipe = await reader.row("recipes", asked)
        if recipe is None:
            raise Unknown(f"recipe {recipe_id}")
        body = {
            "job_id": recipe["job_id"],
            "recipe_set_id": recipe["recipe_set_id"],
            "owner": recipe["owner"],
            "group": recipe["group"],
            **recipe_summary(recipe, await reader.rows("tasks", asked)),
            "distro_tree": await self._tree(recipe["distro_tree_id"], at),
            "history": await reader.rows("history_of_recipe", asked),
            "results": await reader.rows("results_of_recipe", asked),
        }
        reading.answer(resp, at, body)

    async def _tree(self, tree_id: int | None, at: int) -> dict[str, object] | None:
        if tree_id is None:
            return None
        asked = {"kind": "distro-tree", "name": str(tree_id), "at": at}
        row = await self._services.reader.row("document", asked)
        return None if row is None else {"id": tree_id, **row["document"]}

    async def on_post_progress(self, req: Request, resp: Response, recipe_id: int) -> None:
        message = read_report(await read_model(req, ProgressItem))
        item = Item(recipe_id, message)
        own = principal_of(req).lab_controller
        (answer,) = await report_progress(self._services, request_of(req), own, [item])
        if isinstance(answer, LabledgerError):
            raise answer
        reading.answer(resp, answer, {"recipe_id": recipe_id})

    async def on_get_queue(self, req: Request, resp: Response) -> None:
        page = await reading.read_page(req, self._services.reader, first=QUEUE_START)
        names = ("not_assigned", "minus_priority", "submission", "recipe_id")
        params = {"at": page.at, "limit": page.limit, **dict(zip(names, page.after, strict=True))}
        rows = await self._services.reader.rows("queue", params)
        last = rows[-1] if rows else None
        key = last and [last["state"] != "assigned", -last["priority"], last["submission"], last["recipe_id"]]
        reading.answer_list(req, resp, page, "recipes", [queued_recipe(row) for row in rows], key)
