"""/recipe-sets"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from falcon.asgi import Request, Response

from api.rest import paging
from api.rest.body import read_model
from api.rest.context import request_of
from api.rest.contract import queries
from api.rest.contract.answers import jobs as answers
from api.rest.contract.inputs.jobs import Cancel, PriorityChange
from api.rest.contract.operation import operation
from api.rest.held_back import HeldBack, admission_of, held_back_of
from api.rest.ports import RecipeParts
from api.rest.resources.by_number import cancel, find
from api.rest.resources.shapes import recipe_set_document
from api.rest.shown_weights import NO_WEIGHT, weight_of_set
from api.rest.views import View, read_view
from api.rest.waiting_sets import waiting_sets
from api.use_cases.change_job import cancel_recipe_set, change_priority
from domain.priority import Priority
from domain.recipe.lifecycle import UNPLACED

# The further queries for one recipe set.
FURTHER_QUERIES = "recipe_sets", "declared_locks_of_set", "held_locks_of_set"


async def recipe_set_answer(parts: RecipeParts, view: View, recipe_set_id: int) -> tuple[int, dict[str, Any]]:
    """Return the version of a recipe set, and the answer about it. Raises Unknown."""
    version, recipe_set, others = await find(parts, view.at, "recipe-set", recipe_set_id, *FURTHER_QUERIES)
    shown, declared, held = others
    body = recipe_set_document(recipe_set, shown[0], declared, held)
    admission = await admission_of(parts, view.at, recipe_set_id)
    weight: Mapping[str, Any] = NO_WEIGHT
    held_back: HeldBack = []
    if any(recipe["state"] in UNPLACED for recipe in body["recipes"]):
        (waiting,) = await waiting_sets(parts, view.at, [recipe_set_id])
        weight = await weight_of_set(parts, view.at, waiting, declared[0]["submitted_at"])
        held_back = (await held_back_of(parts, view.at, [waiting], [recipe_set_id]))[recipe_set_id]
    return version, {**body, **weight, **admission, "held_back": held_back}


class RecipeSets:
    def __init__(self, parts: RecipeParts) -> None:
        self._parts = parts

    @operation("Show a recipe set", answers.RecipeSet, queries.ReadQuery, versioned=True)
    async def on_get(self, req: Request, resp: Response, recipe_set_id: int) -> None:
        view = await read_view(req, self._parts)
        version, body = await recipe_set_answer(self._parts, view, recipe_set_id)
        paging.answer_read(resp, view.at, body, version=version)

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
