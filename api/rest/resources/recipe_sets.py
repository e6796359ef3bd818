"""/recipe-sets"""

from __future__ import annotations

from falcon.asgi import Request, Response

from api.rest import paging
from api.rest.body import read_model
from api.rest.context import request_of
from api.rest.contract import queries
from api.rest.contract.answers import jobs as answers
from api.rest.contract.inputs.jobs import Cancel, PriorityChange
from api.rest.contract.operation import operation
from api.rest.ports import ChangeParts
from api.rest.resources.by_number import cancel, find
from api.rest.resources.shapes import recipe_set_document
from api.use_cases.change_job import cancel_recipe_set, change_priority
from domain.priority import Priority


class RecipeSets:
    def __init__(self, parts: ChangeParts) -> None:
        self._parts = parts

    @operation("Show a recipe set", answers.RecipeSet, queries.ReadQuery, versioned=True)
    async def on_get(self, req: Request, resp: Response, recipe_set_id: int) -> None:
        at, recipe_set, (shown,) = await find(
            req, resp, self._parts, "recipe-set", recipe_set_id, "recipe_sets"
        )
        paging.answer_read(resp, at, recipe_set_document(recipe_set, shown[0]))

    @operation(
        "Change the priority of a recipe set, before it starts",
        answers.PriorityChanged,
        body=PriorityChange,
        versioned=True,
    )
    async def on_patch(self, req: Request, resp: Response, recipe_set_id: int) -> None:
        change: PriorityChange = await read_model(req)
        priority = Priority[change.priority]
        done = await change_priority(self._parts, request_of(req), recipe_set_id, priority)
        body = {"recipe_set_id": recipe_set_id, "changed": done is not None}
        await paging.answer_write(resp, self._parts.log, done, body)

    @operation("Cancel a recipe set", answers.SetCancelled, body=Cancel, keyed=True)
    async def on_post_cancel(self, req: Request, resp: Response, recipe_set_id: int) -> None:
        await cancel(req, resp, self._parts, "recipe_set_id", recipe_set_id, cancel_recipe_set)
