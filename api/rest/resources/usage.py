"""/systems/{fqdn}/usage, /idle-pool and /system-usage: present and past usage of systems"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

import orjson
from falcon.asgi import Request, Response

from api.rest import paging, partitions, visibility
from api.rest.context import query_of
from api.rest.contract import queries
from api.rest.contract.answers import systems as answers
from api.rest.contract.operation import operation
from api.rest.ports import ReadParts
from api.rest.views import View, read_view
from domain.errors import Unknown, display_name
from projections.read_sessions import Row
from projections.reader import At
from projections.sql import ANY_LAB

BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)


async def usage_answer(parts: ReadParts, view: View, fqdn: str, query: queries.Span) -> dict[str, Any]:
    """Return the answer about the usage of a system in a time span. Raises Unknown."""
    view.require_visible(fqdn)
    params = {"at": view.position, "fqdn": fqdn, "since": query.since, "until": query.until}
    rows = await parts.reader.rows("usage_of_system", params)
    exists = rows or await parts.reader.row("system_is_known", {"at": view.position, "fqdn": fqdn})
    if not exists:
        raise Unknown(display_name("system", fqdn))
    return {"intervals": rows}


class Usage:
    def __init__(self, parts: ReadParts) -> None:
        self._parts = parts

    @operation("List the usage intervals of a system", answers.SystemHistory, queries.Span)
    async def on_get(self, req: Request, resp: Response, fqdn: str) -> None:
        view = await read_view(req, self._parts)
        body = await usage_answer(self._parts, view, fqdn, query_of(req, queries.Span))
        paging.answer_read(resp, view.at, body)

    @operation("List the idle systems", answers.IdlePool, queries.PartitionPage, refuses=(404,))
    async def on_get_idle_pool(self, req: Request, resp: Response) -> None:
        page = await paging.read_page(req, self._parts, first="")
        hidden = await visibility.hidden_rows(req, self._parts)
        asked = query_of(req, queries.PartitionPage).partition
        number = await partitions.number_at(self._parts, page.at, asked)
        labs = await partitions.lab_partitions(self._parts, page.at)
        params = {"at": page.position, "limit": page.limit, "after": page.after, "hidden": hidden}
        rows = await self._parts.reader.rows("idle_pool", {**params, **labs.labs_of(number)})
        systems = [labs.named(row) for row in rows]
        paging.answer_list(req, resp, page, "systems", systems, rows[-1]["fqdn"] if rows else None)

    def _until(self, at: At, wanted: datetime | None) -> datetime:
        """Return `wanted`, but at most the time of `as_of`, or now."""
        latest = at.moment or self._parts.clock()
        return min(wanted or latest, latest)

    @operation(
        "Sum the seconds of systems by condition and usage",
        answers.SystemUsage,
        queries.Summed,
        refuses=(404,),
    )
    async def on_get_summed(self, req: Request, resp: Response) -> None:
        query = query_of(req, queries.Summed)
        page = await paging.read_page(req, self._parts, first="")
        number = await partitions.number_at(self._parts, page.at, query.partition)
        since, until = query.since or BEGINNING, self._until(page.at, query.until)
        hidden = await visibility.hidden_rows(req, self._parts)
        params = {"at": page.position, "since": since, "until": until, "group_by": query.group_by}
        params["hidden"] = hidden
        groups: Any
        labs = await self._labs_of(page.at, number)
        if query.since is None and query.group_by == "system" and labs == ANY_LAB:
            groups, key = await self._of_each_system(page, params)
        else:
            rows = await self._parts.reader.rows("system_usage", {**params, **labs})
            groups, key = _page(_groups(rows), page)
        paging.answer_page(req, resp, page, {"since": since, "until": until, "groups": groups}, key)

    async def _labs_of(self, at: At, number: int | None) -> Mapping[str, Any]:
        if number is None:
            return ANY_LAB
        return (await partitions.lab_partitions(self._parts, at)).labs_of(number)

    async def _of_each_system(self, page: paging.PageAt, params: Row) -> tuple[orjson.Fragment, str | None]:
        params = {**params, "after": page.after, "limit": page.limit}
        row = await self._parts.reader.row("usage_of_each_system", params)
        assert row is not None
        return orjson.Fragment(row["groups"]), row["last"] if row["number"] == page.limit else None


def _groups(rows: Iterable[Row]) -> list[dict[str, Any]]:
    groups: dict[str | None, dict[str, dict[str, float]]] = {}
    for row in rows:
        by_condition = groups.setdefault(row["key"], {}).setdefault(row["condition"], {})
        by_condition[row["usage"]] = row["seconds"]
    return [{"key": key, "seconds": seconds} for key, seconds in groups.items()]


def _page(groups: list[dict[str, Any]], page: paging.PageAt) -> tuple[list[dict[str, Any]], str | None]:
    """Return a page of the groups by key, a null key last, and the key of its last group if more follow.

    Python sorts them, because the database may sort by another collation than the comparison with `after`.
    """
    remaining = [group for group in groups if group["key"] is None or group["key"] > page.after]
    remaining.sort(key=lambda group: (group["key"] is None, group["key"]))
    shown = remaining[: page.limit]
    return shown, shown[-1]["key"] if len(remaining) > len(shown) else None
