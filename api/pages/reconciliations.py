"""The page of reconciliations, with the refused items of registrations."""

from __future__ import annotations

from falcon.asgi import Request, Response

from api.pages.page import page_view, show_list
from api.pages.security import HTML
from api.rest import paging
from api.rest.context import query_of
from api.rest.contract.operation import operation
from api.rest.contract.queries import ReconciliationPage
from api.rest.ports import ReadParts
from api.rest.resources.reconciliations import BEFORE_ALL, reconciliation_list


class ReconciliationPages:
    def __init__(self, parts: ReadParts) -> None:
        self._parts = parts

    @operation("Show the list of reconciliations", None, ReconciliationPage, gives=(HTML,))
    async def on_get(self, req: Request, resp: Response) -> None:
        view, query = await page_view(req, self._parts), query_of(req, ReconciliationPage)
        page = paging.page_at(req, view.at, BEFORE_ALL)
        found = await reconciliation_list(self._parts, view, query, page)
        template, rejected = "reconciliations.html", found.rejected
        await show_list(req, resp, self._parts, view, template, query, found.listed, rejected=rejected)
