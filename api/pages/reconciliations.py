"""The page of reconciliations, with the refused items of registrations."""

from __future__ import annotations

from falcon.asgi import Request, Response

from api.pages.actions import offered
from api.pages.page import page_view, show_list
from api.pages.reconciliation_actions import RECONCILIATION
from api.pages.security import HTML
from api.rest import paging
from api.rest.context import query_of, request_of
from api.rest.contract.operation import operation
from api.rest.contract.queries import ReconciliationPage
from api.rest.ports import PageParts
from api.rest.resources.reconciliations import BEFORE_ALL, reconciliation_list


class ReconciliationPages:
    def __init__(self, parts: PageParts) -> None:
        self._parts = parts

    @operation("Show the list of reconciliations", None, ReconciliationPage, gives=(HTML,))
    async def on_get(self, req: Request, resp: Response) -> None:
        view, query = await page_view(req, self._parts), query_of(req, ReconciliationPage)
        page = paging.page_at(req, view.at, BEFORE_ALL)
        found = await reconciliation_list(self._parts, view, query, page)
        # The right is the same for all: it depends on the role alone, as the live part of the page does.
        actions = await offered(self._parts, request_of(req), view, RECONCILIATION, None, {})
        template, more = "reconciliations.html", {"rejected": found.rejected, "actions": actions}
        await show_list(req, resp, self._parts, view, template, query, found.listed, **more)
