"""The pages of job filters."""

from __future__ import annotations

from falcon.asgi import Request, Response

from api.pages.actions import offered
from api.pages.page import page_view, show, show_list
from api.pages.partition_actions import OF_JOB_FILTERS
from api.pages.security import HTML
from api.rest import paging
from api.rest.context import query_of, request_of
from api.rest.contract.operation import operation
from api.rest.contract.queries import JobFilterPage, JobFilterQuery
from api.rest.ports import PageParts
from api.rest.resources.job_filters import BEFORE_ALL, job_filter_answer, job_filter_list
from api.rest.views import View


class JobFilterPages:
    def __init__(self, parts: PageParts) -> None:
        self._parts = parts

    @operation("Show the list of job filters", None, JobFilterPage, gives=(HTML,), refuses=(404,))
    async def on_get_list(self, req: Request, resp: Response) -> None:
        view, query = await page_view(req, self._parts), query_of(req, JobFilterPage)
        found = await job_filter_list(self._parts, view, query, paging.page_at(req, view.at, BEFORE_ALL))
        more = {"partition": query.partition, "actions": await self._offered(req, view, query.partition)}
        await show_list(req, resp, self._parts, view, "filters.html", query, found, **more)

    @operation("Show the page of a job filter", None, JobFilterQuery, gives=(HTML,))
    async def on_get(self, req: Request, resp: Response, name: str) -> None:
        view, partition = await page_view(req, self._parts), query_of(req, JobFilterQuery).partition
        _, found = await job_filter_answer(self._parts, view, partition, name)
        actions = await self._offered(req, view, partition)
        values = {"filter": found, "partition": partition, "actions": actions}
        await show(req, resp, self._parts, view, "filter.html", values)

    async def _offered(self, req: Request, view: View, partition: str) -> list[dict[str, str]]:
        return await offered(self._parts, request_of(req), view, OF_JOB_FILTERS, partition, {})
