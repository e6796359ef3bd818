"""The page of the retention tags, and of the jobs whose results and logs they delete next."""

from __future__ import annotations

from typing import Final

from falcon.asgi import Request, Response

from api.pages.page import page_view, show
from api.pages.security import HTML
from api.rest.context import query_of
from api.rest.contract.operation import operation
from api.rest.contract.queries import RetentionView
from api.rest.ports import PageParts
from api.rest.resources.retention import retention_answer

MAX_JOBS: Final = 100


class RetentionPages:
    def __init__(self, parts: PageParts) -> None:
        self._parts = parts

    @operation("Show the retention tags, and what they delete next", None, RetentionView, gives=(HTML,))
    async def on_get(self, req: Request, resp: Response) -> None:
        """Show the present: what was due in the past, and was not deleted then, is due now."""
        view = await page_view(req, self._parts)
        found = await retention_answer(self._parts, view.at, query_of(req, RetentionView).tags, MAX_JOBS)
        due_count = sum(tag["due_job_count"] for tag in found["tags"])
        await show(req, resp, self._parts, view, "retention.html", {**found, "due_count": due_count})
