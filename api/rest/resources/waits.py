"""/waits: histograms of the waits of started recipes"""

from __future__ import annotations

from typing import Any

from falcon.asgi import Request, Response

from api.rest import paging, partitions
from api.rest.cached_waits import arches_of_waits
from api.rest.context import query_of
from api.rest.contract import queries
from api.rest.contract.answers import waits as answers
from api.rest.contract.operation import operation
from api.rest.contract.queries import BEGINNING
from api.rest.ports import ReadParts
from api.rest.views import View, read_view
from domain.priority import Priority
from projections.durations import BOUNDS
from projections.read_sessions import Row

# The key before all others: minus the number of recipes, and the property.
START: list[Any] = [-(2**63), ""]
WAIT_BOUNDS = BOUNDS["wait"]


class Waits:
    def __init__(self, parts: ReadParts) -> None:
        self._parts = parts

    @operation(
        "Show how long recipes waited until they started, as histograms by a property",
        answers.Waits,
        queries.WaitPage,
        refuses=(404,),
    )
    async def on_get(self, req: Request, resp: Response) -> None:
        view = await read_view(req, self._parts)
        page = paging.page_at(req, view.at, START)
        body, key = await waits_answer(self._parts, view, query_of(req, queries.WaitPage), page)
        paging.answer_page(req, resp, page, body, key)


async def waits_answer(
    parts: ReadParts, view: View, query: queries.WaitPage, page: paging.PageAt
) -> tuple[dict[str, Any], Any]:
    """Return a page of histograms, and the key of the last one if more may follow. Raises Unknown."""
    number = await partitions.number_at(parts, view.at, query.partition)
    numbers = await partitions.numbers_at(parts, view.at) if number is None else [number]
    latest = paging.moment_of(view.at, parts)
    since, until = query.since or BEGINNING, min(query.until or latest, latest)
    minus_recipes, key = page.after
    params = {
        "at": view.position,
        "since": since,
        "until": until,
        "by": query.by,
        "partitions": numbers,
        "arches": await arches_of_waits(parts.reader, numbers),
        "bounds": list(WAIT_BOUNDS),
        "hidden": view.hidden_rows,
        "minus_recipes": minus_recipes,
        "key": key,
        "limit": page.limit,
    }
    rows = await parts.reader.rows("waits_by", params)
    body = {
        "since": since,
        "until": until,
        "by": query.by,
        "bounds_seconds": WAIT_BOUNDS,
        "groups": [_group(query.by, row) for row in rows],
    }
    last = rows[-1] if len(rows) == page.limit else None
    return body, last and [-last["recipes"], last["key"]]


def _group(by: str, row: Row) -> dict[str, Any]:
    key = Priority(int(row["key"])).name if by == "priority" else row["key"] or None
    return {
        "key": key,
        "recipes": row["recipes"],
        "seconds": row["seconds"],
        "p50_seconds": row["p50"],
        "p90_seconds": row["p90"],
        "buckets": [row["buckets"].get(str(bucket), 0) for bucket in range(len(WAIT_BOUNDS) + 1)],
        "example_recipe_id": row["example"],
    }
