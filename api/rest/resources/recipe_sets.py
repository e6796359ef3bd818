"""/recipe-sets"""

from __future__ import annotations

from functools import partial

from falcon.asgi import Request, Response

from api.rest import reading
from api.rest.body import parse_model, read_json_bytes, read_model
from api.rest.contract import queries
from api.rest.contract.answers import jobs as answers
from api.rest.contract.inputs.jobs import Cancel, PriorityChange
from api.rest.contract.operation import operation
from api.rest.idempotency import once
from api.rest.middleware.principal import request_of
from api.rest.resources.shapes import recipe_set_document
from api.services import Services
from api.use_cases.cancel import cancel_recipe_set
from api.use_cases.change_priority import change_priority
from domain.errors import Unknown
from domain.priority import Priority


class RecipeSets:
    def __init__(self, services: Services) -> None:
        self._services = services

    @operation("Show a recipe set", answers.RecipeSet, queries.Read, versioned=True)
    async def on_get(self, req: Request, resp: Response, recipe_set_id: int) -> None:
        reader = self._services.reader
        at = await reading.read_at(req, self._services)
        recipe_set = await reader.row("recipe_set", {"at": at.position, "recipe_set_id": recipe_set_id})
        if recipe_set is None:
            raise Unknown(f"recipe set {recipe_set_id}")
        of_set = {"at": at.position, "job_id": None, "recipe_set_id": recipe_set_id, "recipe_id": None}
        recipes = await reader.rows("recipes", of_set)
        tasks = await reader.rows("tasks", of_set)
        resp.etag = str(recipe_set["version"])
        reading.answer_read(resp, at, recipe_set_document(recipe_set, recipes, tasks))

    @operation(
        "Change its priority, before its start", answers.PriorityChanged, body=PriorityChange, versioned=True
    )
    async def on_patch(self, req: Request, resp: Response, recipe_set_id: int) -> None:
        change: PriorityChange = await read_model(req)
        priority = Priority[change.priority]
        done = await change_priority(self._services, request_of(req), recipe_set_id, priority)
        body = {"recipe_set_id": recipe_set_id, "changed": done is not None}
        await reading.answer_write(resp, self._services, done, body)

    @operation("Cancel a recipe set", answers.SetCancelled, body=Cancel, keyed=True)
    async def on_post_cancel(self, req: Request, resp: Response, recipe_set_id: int) -> None:
        body = await read_json_bytes(req)
        asked: Cancel = parse_model(req, body)
        cancel = partial(cancel_recipe_set, self._services, recipe_set_id=recipe_set_id, reason=asked.reason)
        done = await once(self._services, req, body, cancel)
        answer = {"recipe_set_id": recipe_set_id, "cancelled": done is not None}
        await reading.answer_write(resp, self._services, done, answer)
