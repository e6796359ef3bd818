"""/recipes/{recipe_id}/extension, /systems/{fqdn}/extension: more time for recipes, reservations and loans"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from falcon.asgi import Request, Response

from api.rest import paging
from api.rest.body import parse_model, read_json_bytes
from api.rest.context import keyed_request
from api.rest.contract.answers import systems as answers
from api.rest.contract.inputs.systems import ExtensionWanted
from api.rest.contract.operation import operation
from api.use_cases.extend import ExtensionRequest, end_after, extend_deadline, extend_lending
from api.use_cases.idempotency import commit_once
from api.use_cases.ports import RequestContext, WriteParts
from store.requests import Committed

Extend = Callable[[RequestContext, ExtensionRequest], Awaitable[Committed | None]]


class Extensions:
    def __init__(self, parts: WriteParts) -> None:
        self._parts = parts

    @operation(
        "Extend a recipe: its watchdog, or the time for which it keeps its system",
        answers.Extended,
        body=ExtensionWanted,
        keyed=True,
    )
    async def on_post_of_recipe(self, req: Request, resp: Response, recipe_id: int) -> None:
        await self._extend(
            *(req, resp, f"recipe/{recipe_id}"),
            lambda request, wanted: extend_deadline(self._parts, request, recipe_id, wanted),
        )

    @operation(
        "Extend the reservation or loan of a system, the loan only without a reservation",
        answers.Extended,
        body=ExtensionWanted,
        keyed=True,
    )
    async def on_post_of_system(self, req: Request, resp: Response, fqdn: str) -> None:
        await self._extend(
            *(req, resp, f"system/{fqdn}"),
            lambda request, wanted: extend_lending(self._parts, request, fqdn, wanted),
        )

    async def _extend(self, req: Request, resp: Response, subject: str, extend: Extend) -> None:
        body = await read_json_bytes(req)
        wanted: ExtensionWanted = await parse_model(req, body)
        request = keyed_request(req, body)
        asked = ExtensionRequest(wanted.seconds, wanted.until, wanted.reason)
        done = await commit_once(self._parts.log, request, lambda: extend(request, asked))
        assert done is not None, "an extension always changes something"
        paging.answer(resp, done.position, {"until": await end_after(self._parts, subject, done)})
