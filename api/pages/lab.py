"""The page of the lab: systems as rows, time across."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta
from typing import Annotated, Any, Final, Literal

from falcon.asgi import Request, Response
from pydantic import Field

from api.pages.filters import filter_fields
from api.pages.page import page_view, show
from api.pages.rendering import plain
from api.pages.security import HTML
from api.rest import paging
from api.rest.context import query_of
from api.rest.contract.operation import operation
from api.rest.contract.queries import Span, SystemFilters, TimelinePage
from api.rest.contract.query_values import Limit
from api.rest.ports import PageParts
from api.rest.resources.timeline import FIRST_MOMENT, TIMELINE_START, timeline_answer
from domain.system.usage import displayed_usage

LENGTHS: Final = {
    "hour": timedelta(hours=1),
    "6 hours": timedelta(hours=6),
    "day": timedelta(days=1),
    "week": timedelta(days=7),
    "month": timedelta(days=30),
}
# Units of the picture from its left to its right. Intervals that are shorter than MIN_UNITS become mixed.
UNITS: Final = 1_000
MIN_UNITS: Final = 3
TICKS: Final = 4


class LabQuery(Span, SystemFilters):
    """`length` counts back from the end of the time span, unless `since` is given."""

    length: Annotated[
        Literal["hour", "6 hours", "day", "week", "month"],
        Field(description="length of the time span, if since is not given"),
    ] = "day"
    limit: Annotated[Limit, Field(description="maximum number of systems")] = 50

    def timeline(self, latest: datetime) -> TimelinePage:
        """Return the query of the HTTP API.

        The time span without `since` and `until` begins at a multiple of the unit, so a live page changes
        only when a unit is over, or when something happens.
        """
        until = min(self.until or latest, latest)
        since = self.since
        if since is None:
            length = min(LENGTHS[self.length], until - FIRST_MOMENT)
            unit_seconds = length.total_seconds() / UNITS
            rest = timedelta() if self.until else timedelta(seconds=-until.timestamp() % unit_seconds)
            since = until - length + rest
        # Of a few minutes, all intervals are exact.
        resolution = int((until - since) / timedelta(seconds=1) * MIN_UNITS / UNITS)
        given = self.model_dump(exclude={"length", "since", "until"})
        return TimelinePage.model_construct(
            **given, since=since, until=until, resolution_seconds=max(0, resolution)
        )


class LabPage:
    def __init__(self, parts: PageParts) -> None:
        self._parts = parts

    @operation("Show the usage of the systems over time", None, LabQuery, gives=(HTML,), refuses=(404,))
    async def on_get(self, req: Request, resp: Response) -> None:
        view, query = await page_view(req, self._parts), query_of(req, LabQuery)
        asked = query.timeline(paging.moment_of(view.at, self._parts))
        page = paging.page_at(req, view.at, TIMELINE_START)
        answer, key = await timeline_answer(self._parts, view, asked, page)
        length = None if query.since or query.until else LENGTHS[query.length]
        values = {
            # In a thread, because a page may have thousands of intervals.
            **await asyncio.to_thread(drawn, answer, length),
            "next": paging.next_path(req, resp, key),
            "filters": filter_fields(query),
        }
        await show(req, resp, self._parts, view, "lab.html", values, begin=answer["since"])


def drawn(answer: dict[str, Any], length: timedelta | None) -> dict[str, Any]:
    """Return a time line with the place of each interval in the picture, and the times of the ticks.

    The picture of a `length` goes on to the end of the last unit, which may be after the time span.
    """
    since: datetime = answer["since"]
    end = since + length if length else answer["until"]
    drawn = plain(answer)
    for system in drawn["systems"]:
        if system["at_end"] is not None:
            system["at_end"]["state"] = _state(system["at_end"])
        for interval in system["intervals"]:
            x, stop = (_place(interval[name], since, end) for name in ("since", "until"))
            interval |= {"x": x, "width": stop - x, "state": _state(interval)}
            for share in interval["shares"]:
                share["state"] = _state(share)
    ticks = [since + (end - since) * number / TICKS for number in range(TICKS + 1)]
    return {"timeline": drawn, "ticks": ticks}


def _place(at: str, since: datetime, end: datetime) -> int:
    return round((datetime.fromisoformat(at) - since) / (end - since) * UNITS)


def _state(item: dict[str, Any]) -> str:
    return displayed_usage(item["condition"], item["usage"])
