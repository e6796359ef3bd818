"""/recipes/{id}/explanation"""

from __future__ import annotations

from falcon.asgi import Request, Response

from api.rest import concerned_partitions, paging, visibility
from api.rest.context import principal_of, query_of
from api.rest.contract import queries
from api.rest.contract.answers import explanations as answers
from api.rest.contract.operation import operation
from api.rest.ports import ExplainParts


class Explanations:
    def __init__(self, parts: ExplainParts) -> None:
        self._parts = parts

    @operation("Explain why a recipe waits, or why it got its system", answers.Explanation, queries.Explained)
    async def on_get(self, req: Request, resp: Response, recipe_id: int) -> None:
        query = query_of(req, queries.Explained)
        at = await paging.read_at(req, self._parts)
        hidden = await visibility.hidden_systems(req, self._parts)
        if query.system is not None:
            await visibility.require_visible(req, self._parts, query.system)
        identity = await concerned_partitions.of_subject(self._parts, "recipe", recipe_id)
        if query.system is not None and query.as_of is None:
            await concerned_partitions.require_in(self._parts, query.system, identity)
        explained = await self._parts.explainers.ask(
            identity,
            "recipe",
            hidden=list(hidden),
            unknown=list(visibility.unknown_now(principal_of(req), self._parts)),
            recipe_id=recipe_id,
            # An explanation of the present reflects the end of the log, which may be after the read position.
            at=None if query.as_of is None else at.position,
            now=paging.moment_of(at, self._parts),
            limit=query.limit,
            system=query.system,
        )
        position = explained.pop("position")
        body = explained if at.moment is None else {"as_of": at.moment, **explained}
        paging.answer(resp, position, body)
