"""/timeline: the intervals of usage of many systems"""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import orjson
from falcon.asgi import Request, Response

from api.rest import paging, partitions
from api.rest.context import query_of
from api.rest.contract import queries
from api.rest.contract.answers import systems as answers
from api.rest.contract.operation import operation
from api.rest.ports import ReadParts
from api.rest.views import View, read_view
from domain.errors import Fault, FaultyInput
from domain.rfc3339 import rfc3339
from projections.read_sessions import Row

DEFAULT_SPAN: Final = timedelta(days=1)
FIRST_MOMENT: Final = datetime.min.replace(tzinfo=UTC)
# The key before all others: the time span of the first page, and the name of a system.
TIMELINE_START: Final = ["", "", ""]
# Maximum length of a time span, in units of the resolution.
MAX_STEPS: Final = 1_000
# Maximum number of intervals of a system: between two long ones is at most one mixed one.
MAX_INTERVALS: Final = 2 * MAX_STEPS
# Maximum number of intervals in a page. The system with which a page reaches it is the last one of the page.
MAX_PAGE_INTERVALS: Final = 50_000


async def timeline_answer(
    parts: ReadParts, view: View, query: queries.TimelinePage, page: paging.PageAt
) -> tuple[dict[str, Any], list[str] | None]:
    """Return a page of a time line, and the key of its last system if more may follow.

    The intervals are JSON fragments. Raises FaultyInput for the time span, and Unknown for the partition.
    """
    since, until = _span(query, page, paging.moment_of(view.at, parts))
    number = await partitions.number_at(parts, view.at, query.partition)
    labs = await partitions.labs_of(parts, view.at, number)
    params = {
        **{name: getattr(query, name) for name in ("lab_controller", "pool", "owner", "condition")},
        **labs,
        "at": view.position,
        "since": since,
        "until": until,
        "fqdns": list(query.fqdn) or None,
        "hidden": view.hidden_rows,
        "after": page.after[-1],
        "limit": page.limit,
        "resolution": query.resolution_seconds,
        # With a resolution, the number of intervals is limited by the time span.
        "max_intervals": None if query.resolution_seconds else MAX_INTERVALS + 1,
        "max_page_intervals": MAX_PAGE_INTERVALS,
    }
    rows = await parts.reader.rows("timeline", params)
    _require_few(rows, since, until)
    body = {"since": since, "until": until, "resolution_seconds": query.resolution_seconds}
    has_more = bool(rows) and (len(rows) == page.limit or rows[-1]["has_more"])
    key = [rfc3339(since), rfc3339(until), rows[-1]["fqdn"]] if has_more else None
    return {**body, "systems": list(map(_system, rows))}, key


def _span(query: queries.TimelinePage, page: paging.PageAt, latest: datetime) -> tuple[datetime, datetime]:
    """Return the time span, up to `latest`; that of the first page for all pages.

    Raises FaultyInput if it is empty or too long.
    """
    since, until = query.since, query.until
    if page.after != TIMELINE_START:
        since, until = map(paging.cursor_moment, page.after[:2])
    until = min(until or latest, latest)
    since = since or until - min(DEFAULT_SPAN, until - FIRST_MOMENT)
    if since >= until:
        raise FaultyInput([Fault("since", f"must be before {rfc3339(until)}, the end of the time span")])
    least = _least_resolution(since, until)
    if 0 < query.resolution_seconds < least:
        message = f"must be at least {least} for this time span, or 0 for the exact intervals"
        raise FaultyInput([Fault("resolution_seconds", message)])
    return since, until


def _least_resolution(since: datetime, until: datetime) -> int:
    return math.ceil((until - since) / timedelta(seconds=MAX_STEPS))


def _require_few(rows: list[Row], since: datetime, until: datetime) -> None:
    """Raise FaultyInput if a system has too many exact intervals."""
    for row in rows:
        if row["number"] > MAX_INTERVALS:
            message = (
                f"must be at least {_least_resolution(since, until)}, because {row['fqdn']} has more than"
                f" {MAX_INTERVALS:,} intervals in this time span"
            )
            raise FaultyInput([Fault("resolution_seconds", message)])


def _system(row: Row) -> dict[str, Any]:
    shown = {name: row[name] for name in ("fqdn", "lab_controller", "owner", "condition", "pools")}
    end = {name: row[f"end_{name}"] for name in ("condition", "usage", "recipe_id", "user")}
    at_end = end if end["usage"] is not None else None
    return {**shown, "intervals": orjson.Fragment(row["intervals"]), "at_end": at_end}


class Timeline:
    def __init__(self, parts: ReadParts) -> None:
        self._parts = parts

    @operation(
        "Show the usage of many systems over time", answers.Timeline, queries.TimelinePage, refuses=(404,)
    )
    async def on_get(self, req: Request, resp: Response) -> None:
        view, query = await read_view(req, self._parts), query_of(req, queries.TimelinePage)
        page = paging.page_at(req, view.at, first=TIMELINE_START)
        body, key = await timeline_answer(self._parts, view, query, page)
        paging.answer_page(req, resp, page, body, key)
