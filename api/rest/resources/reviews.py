"""/recipe-sets/{id}/review, /recipe-sets/{id}/waiver, /recipes/{id}/tasks/{id}/waiver"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from falcon.asgi import Request, Response

from api.rest import paging
from api.rest.body import parse_model, read_json_bytes
from api.rest.context import keyed_request
from api.rest.contract.answers import reviews as answers
from api.rest.contract.inputs.jobs import Review, Waiver
from api.rest.contract.operation import operation
from api.use_cases.idempotency import commit_once
from api.use_cases.ports import RequestContext, WriteParts
from api.use_cases.review import review_set, waive_set, waive_task
from domain.recipe_set.review import WaiverChange
from store.requests import Committed

Waive = Callable[[RequestContext, WaiverChange], Awaitable[Committed | None]]


class Reviews:
    def __init__(self, parts: WriteParts) -> None:
        self._parts = parts

    @operation(
        "Review a recipe set that has ended, or revoke its review",
        answers.SetReviewed,
        body=Review,
        keyed=True,
    )
    async def on_post(self, req: Request, resp: Response, recipe_set_id: int) -> None:
        body = await read_json_bytes(req)
        wanted: Review = await parse_model(req, body)
        request = keyed_request(req, body)
        done = await commit_once(
            self._parts.log,
            request,
            lambda: review_set(self._parts, request, recipe_set_id, wanted.review, wanted.reason),
        )
        answer = {"recipe_set_id": recipe_set_id, "changed": done is not None}
        await paging.answer_write(resp, self._parts.log, done, answer)

    @operation(
        "Waive the failures of a recipe set, after it has ended, or revoke this waiver",
        answers.SetReviewed,
        body=Waiver,
        keyed=True,
    )
    async def on_post_of_set(self, req: Request, resp: Response, recipe_set_id: int) -> None:
        await self._waive(
            *(req, resp, {"recipe_set_id": recipe_set_id}),
            lambda request, change: waive_set(self._parts, request, recipe_set_id, change),
        )

    @operation(
        "Waive the failure of a task, after its recipe set has ended, or revoke this waiver",
        answers.TaskWaived,
        body=Waiver,
        keyed=True,
    )
    async def on_post_of_task(self, req: Request, resp: Response, recipe_id: int, task_id: int) -> None:
        await self._waive(
            *(req, resp, {"recipe_id": recipe_id, "task_id": task_id}),
            lambda request, change: waive_task(self._parts, request, recipe_id, task_id, change),
        )

    async def _waive(self, req: Request, resp: Response, ids: dict[str, Any], waive: Waive) -> None:
        body = await read_json_bytes(req)
        wanted: Waiver = await parse_model(req, body)
        request = keyed_request(req, body)
        change = WaiverChange(wanted.waived, wanted.reason)
        done = await commit_once(self._parts.log, request, lambda: waive(request, change))
        await paging.answer_write(resp, self._parts.log, done, {**ids, "changed": done is not None})
