"""/reconciliations: systems on which something runs that does not have them in the log."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from falcon.asgi import Request, Response

from api.rest import paging
from api.rest.body import parse_model, read_json_bytes
from api.rest.context import keyed_request, query_of
from api.rest.contract import queries
from api.rest.contract.answers import reconciliations as answers
from api.rest.contract.inputs.labs import Resolution
from api.rest.contract.operation import operation
from api.rest.ports import ChangeParts, ReadParts
from api.rest.views import View, read_view
from api.use_cases.idempotency import commit_once
from api.use_cases.recover import resolve
from projections.read_sessions import Row

# The key before all others: the id of a reconciliation.
BEFORE_ALL = 0


class ListedReconciliations(NamedTuple):
    """A page of the reconciliations, and the refused items of the present registrations."""

    listed: paging.Listed
    rejected: list[Row]


async def reconciliation_list(
    parts: ReadParts, view: View, query: queries.ReconciliationPage, page: paging.PageAt
) -> ListedReconciliations:
    """Return a page of the reconciliations, oldest first, without those of hidden systems."""
    params = {"at": view.position, "limit": page.limit, "after": page.after, "hidden": view.hidden_rows}
    params |= query.filters()
    rows, rejected = await parts.reader.together(("reconciliations", params), ("rejected_items", params))
    return ListedReconciliations(paging.listed(page, rows, rows[-1]["id"] if rows else None), rejected)


class Reconciliations:
    def __init__(self, parts: ChangeParts) -> None:
        self._parts = parts

    @operation(
        "List the systems on which something runs that does not have them, oldest first",
        *(answers.ReconciliationList, queries.ReconciliationPage),
    )
    async def on_get(self, req: Request, resp: Response) -> None:
        view = await read_view(req, self._parts)
        page = paging.page_at(req, view.at, BEFORE_ALL)
        query = query_of(req, queries.ReconciliationPage)
        found = await reconciliation_list(self._parts, view, query, page)
        body = {"reconciliations": found.listed.items, "rejected": found.rejected}
        paging.answer_page(req, resp, page, body, found.listed.key)

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
