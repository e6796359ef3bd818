"""/usage-report: unused systems, the users who keep systems longest, and what waits longest"""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta
from heapq import nsmallest
from typing import Any, Final

from falcon.asgi import Request, Response

from api.rest import paging, partitions
from api.rest.cached_waits import arches_of_waits
from api.rest.context import query_of
from api.rest.contract import queries
from api.rest.contract.answers import systems as answers
from api.rest.contract.operation import operation
from api.rest.ports import ReadParts
from api.rest.views import View, read_view
from projections.read_sessions import Row
from projections.sql import ANY_LAB

DEFAULT_SPAN: Final = timedelta(days=30)


class UsageReport:
    def __init__(self, parts: ReadParts) -> None:
        self._parts = parts

    @operation(
        "Show unused systems, who keeps systems longest, and what waits longest",
        answers.UsageReport,
        queries.ReportQuery,
    )
    async def on_get(self, req: Request, resp: Response) -> None:
        view = await read_view(req, self._parts)
        paging.answer_read(resp, view.at, await report(self._parts, view, query_of(req, queries.ReportQuery)))


async def report(parts: ReadParts, view: View, query: queries.ReportQuery) -> dict[str, Any]:
    """Return the answer: each list has at most `limit` items, the longest first."""
    until = paging.moment_of(view.at, parts)
    since = min(query.since or until - DEFAULT_SPAN, until)
    numbers = await partitions.numbers_at(parts, view.at)
    params: Row = {"at": view.position, "since": since, "limit": query.limit}
    unused, sums, waits = await parts.reader.together(
        ("unused_systems", {**params, "hidden": view.hidden_rows}),
        (
            "system_usage",
            {**params, **ANY_LAB, "until": until, "group_by": "user", "fqdns": None, "step": None},
        ),
        (
            "longest_waits",
            {**params, "partitions": numbers, "arches": await arches_of_waits(parts.reader, numbers)},
        ),
    )
    return {
        "since": since,
        "until": until,
        "unused_systems": unused,
        "users": _users(sums, query.limit),
        "waiting_requirements": [{**row, "wait_seconds": _seconds(row["since"], until)} for row in waits],
    }


def _users(rows: list[Row], limit: int) -> list[dict[str, Any]]:
    """Return the users with most time of systems, that of their recipes, reservations and loans together."""
    total = Counter[str]()
    for row in rows:
        if row["key"] is not None:
            total[row["key"]] += row["microseconds"]
    longest = nsmallest(limit, total.items(), key=lambda item: (-item[1], item[0]))
    return [{"user": user, "seconds": microseconds / 1_000_000} for user, microseconds in longest]


def _seconds(since: datetime, until: datetime) -> float:
    return max(0.0, (until - since) / timedelta(seconds=1))
