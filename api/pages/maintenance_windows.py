"""The pages of maintenance windows."""

from __future__ import annotations

from falcon.asgi import Request, Response

from api.pages.actions import offered, offered_creation
from api.pages.maintenance_actions import MAINTENANCE_WINDOW
from api.pages.page import page_view, show, show_list
from api.pages.security import HTML
from api.rest import paging
from api.rest.context import query_of, request_of
from api.rest.contract.operation import operation
from api.rest.contract.queries import MaintenancePage, ReadQuery
from api.rest.ports import PageParts
from api.rest.resources.maintenance_windows import BEFORE_ALL, window_answer, window_list


class MaintenanceWindowPages:
    def __init__(self, parts: PageParts) -> None:
        self._parts = parts

    @operation("Show the list of maintenance windows", None, MaintenancePage, gives=(HTML,), refuses=(404,))
    async def on_get_list(self, req: Request, resp: Response) -> None:
        view, query = await page_view(req, self._parts), query_of(req, MaintenancePage)
        found = await window_list(self._parts, view, query, paging.page_at(req, view.at, BEFORE_ALL))
        creation = await offered_creation(self._parts, request_of(req), view, MAINTENANCE_WINDOW)
        template = "maintenance_windows.html"
        await show_list(req, resp, self._parts, view, template, query, found, creation=creation)

    @operation("Show the page of a maintenance window", None, ReadQuery, gives=(HTML,))
    async def on_get(self, req: Request, resp: Response, number: int) -> None:
        view = await page_view(req, self._parts)
        _, window = await window_answer(self._parts, view, number)
        actions = await offered(self._parts, request_of(req), view, MAINTENANCE_WINDOW, number, window)
        values = {"window": window, "actions": actions}
        await show(req, resp, self._parts, view, "maintenance_window.html", values)
