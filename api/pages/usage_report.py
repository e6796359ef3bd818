"""The page of the report of usage: unused systems, who keeps systems longest, and what waits longest."""

from __future__ import annotations

from falcon.asgi import Request, Response

from api.pages.filters import filter_fields
from api.pages.page import page_view, show
from api.pages.security import HTML
from api.rest.context import query_of
from api.rest.contract.operation import operation
from api.rest.contract.queries import ReportQuery
from api.rest.ports import PageParts
from api.rest.resources.usage_report import report


class UsageReportPage:
    def __init__(self, parts: PageParts) -> None:
        self._parts = parts

    @operation(
        "Show unused systems, who keeps systems longest, and what waits longest",
        *(None, ReportQuery),
        gives=(HTML,),
    )
    async def on_get(self, req: Request, resp: Response) -> None:
        view, query = await page_view(req, self._parts), query_of(req, ReportQuery)
        values = {**await report(self._parts, view, query), "filters": filter_fields(query)}
        await show(req, resp, self._parts, view, "usage_report.html", values)
