"""The page of waits: how long recipes waited until they started."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from falcon.asgi import Request, Response

from api.pages.page import page_view, show_list
from api.pages.security import HTML
from api.rest import paging
from api.rest.context import query_of
from api.rest.contract.operation import operation
from api.rest.contract.queries import BEGINNING, WaitPage
from api.rest.ports import ReadParts
from api.rest.resources import waits

# The groups whose histograms are shown, each as a column.
MAX_HISTOGRAMS: Final = 8
# The time span of the page without `since`.
DEFAULT_SPAN: Final = timedelta(days=7)


class WaitPages:
    def __init__(self, parts: ReadParts) -> None:
        self._parts = parts

    @operation("Show how long recipes waited", None, WaitPage, gives=(HTML,))
    async def on_get(self, req: Request, resp: Response) -> None:
        view, query = await page_view(req, self._parts), query_of(req, WaitPage)
        page = paging.page_at(req, view.at, waits.START)
        until = query.until or paging.moment_of(view.at, self._parts)
        # The waits of years say little about those of now, and take long to sum.
        since = query.since or until - min(DEFAULT_SPAN, max(timedelta(), until - BEGINNING))
        asked = query.model_copy(update={"since": since})
        found, key = await waits.waits_answer(self._parts, view, asked, page)
        listed = paging.Listed(found["groups"], key)
        values = {
            "by": found["by"],
            "since": found["since"],
            "until": found["until"],
            "bounds": found["bounds_seconds"],
            "histograms": found["groups"][:MAX_HISTOGRAMS],
        }
        await show_list(req, resp, self._parts, view, "waits.html", query, listed, **values)
