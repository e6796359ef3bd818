"""The page of waits: how long recipes waited until they started."""

from __future__ import annotations

from falcon.asgi import Request, Response

from api.pages.page import page_view, show_list
from api.pages.security import HTML
from api.rest import paging
from api.rest.context import query_of
from api.rest.contract.operation import operation
from api.rest.contract.queries import WaitPage
from api.rest.ports import ReadParts
from api.rest.resources import waits

# The groups whose histograms are shown, each as a column.
MAX_HISTOGRAMS = 8


class WaitPages:
    def __init__(self, parts: ReadParts) -> None:
        self._parts = parts

    @operation("Show how long recipes waited", None, WaitPage, gives=(HTML,))
    async def on_get(self, req: Request, resp: Response) -> None:
        view, query = await page_view(req, self._parts), query_of(req, WaitPage)
        page = paging.page_at(req, view.at, waits.START)
        found, key = await waits.waits_answer(self._parts, view, query, page)
        listed = paging.Listed(found["groups"], key)
        values = {
            "by": found["by"],
            "since": None if query.since is None else found["since"],
            "until": found["until"],
            "bounds": found["bounds_seconds"],
            "histograms": found["groups"][:MAX_HISTOGRAMS],
        }
        await show_list(req, resp, self._parts, view, "waits.html", query, listed, **values)
