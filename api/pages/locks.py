"""The pages of resource locks and claims."""

from __future__ import annotations

from falcon.asgi import Request, Response

from api.pages.page import page_view, show_list
from api.pages.security import HTML
from api.rest import paging
from api.rest.context import query_of
from api.rest.contract.operation import operation
from api.rest.contract.queries import ClaimPage, LockPage
from api.rest.ports import ExplainParts, ReadParts
from api.rest.resources import claims, locks


class LockPages:
    def __init__(self, parts: ExplainParts) -> None:
        self._parts = parts

    @operation("Show the list of resource locks", None, LockPage, gives=(HTML,))
    async def on_get(self, req: Request, resp: Response) -> None:
        view, query = await page_view(req, self._parts), query_of(req, LockPage)
        found = await locks.lock_list(self._parts, view, query, paging.page_at(req, view.at, locks.START))
        await show_list(req, resp, self._parts, view, "locks.html", query, found)


class ClaimPages:
    def __init__(self, parts: ReadParts) -> None:
        self._parts = parts

    @operation("Show the list of claims", None, ClaimPage, gives=(HTML,))
    async def on_get(self, req: Request, resp: Response) -> None:
        view, query = await page_view(req, self._parts), query_of(req, ClaimPage)
        page = paging.page_at(req, view.at, claims.BEFORE_ALL)
        found = await claims.claim_list(self._parts, view, query, page)
        await show_list(req, resp, self._parts, view, "claims.html", query, found)
