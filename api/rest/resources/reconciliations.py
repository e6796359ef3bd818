"""/reconciliations: systems on which something runs that does not have them in the log."""

from __future__ import annotations

from functools import partial

from falcon.asgi import Request, Response

from api.rest import paging, visibility
from api.rest.body import parse_model, read_json_bytes
from api.rest.context import keyed_request, query_of
from api.rest.contract import queries
from api.rest.contract.answers import reconciliations as answers
from api.rest.contract.inputs.labs import Resolution
from api.rest.contract.operation import operation
from api.rest.ports import ChangeParts
from api.use_cases.idempotency import commit_once
from api.use_cases.recover import resolve


class Reconciliations:
    def __init__(self, parts: ChangeParts) -> None:
        self._parts = parts

    @operation(
        "List the systems on which something runs that does not have them, oldest first",
        *(answers.ReconciliationList, queries.ReconciliationPage),
    )
    async def on_get(self, req: Request, resp: Response) -> None:
        page = await paging.read_page(req, self._parts, first=0)
        query = query_of(req, queries.ReconciliationPage)
        hidden = await visibility.hidden_rows(req, self._parts)
        params = {"at": page.position, "limit": page.limit, "after": page.after, "hidden": hidden}
        params |= query.filters()
        rows, rejected = await self._parts.reader.together(
            ("reconciliations", params), ("rejected_items", params)
        )
        last = rows[-1]["id"] if len(rows) == page.limit else None
        paging.answer_page(req, resp, page, {"reconciliations": rows, "rejected": rejected}, last)

    @operation(
        "Resolve a reconciliation: a person has made sure that the system is vacant",
        answers.Resolved,
        body=Resolution,
        keyed=True,
    )
    async def on_post_resolve(self, req: Request, resp: Response, reconciliation_id: int) -> None:
        body = await read_json_bytes(req)
        resolution: Resolution = await parse_model(req, body)
        request = keyed_request(req, body)
        write = partial(resolve, self._parts, request, reconciliation_id, resolution.reason)
        done = await commit_once(self._parts.log, request, write)
        shown = {"id": reconciliation_id, "resolved": done is not None}
        await paging.answer_write(resp, self._parts.log, done, shown)
