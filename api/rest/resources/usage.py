"""/systems/{fqdn}/usage, /idle-pool and /system-usage: present and past usage of systems"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import chain
from typing import Any, Final

import orjson
from falcon.asgi import Request, Response

from api.rest import paging, partitions
from api.rest.context import query_of
from api.rest.contract import queries
from api.rest.contract.answers import systems as answers
from api.rest.contract.operation import operation
from api.rest.contract.queries import BEGINNING
from api.rest.ports import ReadParts
from api.rest.views import View, read_view
from domain.errors import Fault, FaultyInput, Unknown, display_name
from domain.events import Recorded
from domain.rfc3339 import rfc3339
from projections.read_sessions import NamedQuery, Row
from projections.sql import ANY_LAB

# Maximum number of steps of a time span, and of steps of all groups on a page.
MAX_STEPS = 1_000
MAX_STEPS_OF_PAGE = 10_000
STEPS = {"hour": timedelta(hours=1), "day": timedelta(days=1)}

# The key before all intervals: the end of the time span, and a position.
USAGE_START: Final = ["", -1]
# The interval before a system was added.
UNREGISTERED: Final[Row] = {
    **dict.fromkeys(("condition", "recipe_id", "job_id", "kind", "user", "loaned_to", "unavailable")),
    **dict.fromkeys(("until_position", "ordered_position")),
    "usage": "unregistered",
    "since_position": 0,
}

Answer = tuple[dict[str, Any], str | None]
"""The answer about sums, and the key of the last group if more follow."""


async def idle_systems(
    parts: ReadParts, view: View, query: queries.PartitionPage, page: paging.PageAt
) -> paging.Listed:
    """Return a page of the idle systems. Raises Unknown for their partition."""
    number = await partitions.number_at(parts, view.at, query.partition)
    labs = await partitions.lab_partitions(parts, view.at)
    params = {"at": view.position, "limit": page.limit, "after": page.after, "hidden": view.hidden_rows}
    rows = await parts.reader.rows("idle_pool", {**params, **labs.labs_of(number)})
    return paging.listed(page, [labs.named(row) for row in rows], rows[-1]["fqdn"] if rows else None)


async def usage_sums(parts: ReadParts, view: View, query: queries.Summed, page: paging.PageAt) -> Answer:
    """Return the answer about the sums of usage. Raises Unknown for a partition, FaultyInput for a step."""
    number = await partitions.number_at(parts, view.at, query.partition)
    # Nothing is counted after `as_of`, or after now.
    latest = view.at.moment or parts.clock()
    until = min(query.until or latest, latest)
    since = query.since or await _first_step(parts, query, until)
    labs = await partitions.labs_of(parts, view.at, number)
    params: Row = {"at": view.position, "since": since, "until": until, "hidden": view.hidden_rows, **labs}
    if query.step is not None:
        page = replace(page, limit=min(page.limit, MAX_STEPS_OF_PAGE // _step_count(query, since, until)))
    params |= {"after": page.after, "limit": page.limit, "group_by": query.group_by, "step": query.step}
    groups: Any
    if query.group_by != "system":
        rows = await parts.reader.rows("system_usage", {**params, "fqdns": None})
        groups, key = _page(_groups(rows, query.step, since, until), page)
    elif query.since is None and query.step is None and labs == ANY_LAB:
        groups, key = await _sums_of_each_system(parts, params)
    else:
        found = await parts.reader.rows("systems_with_usage", params)
        fqdns = [row["fqdn"] for row in found]
        rows = await parts.reader.rows("system_usage", {**params, "fqdns": fqdns})
        groups = _groups(rows, query.step, since, until)
        key = fqdns[-1] if len(fqdns) == page.limit else None
    return {"since": since, "until": until, "groups": groups}, key


async def _first_step(parts: ReadParts, query: queries.Summed, until: datetime) -> datetime:
    """Return the beginning of a time span without one; with a step, of the step in which the log begins."""
    if query.step is None:
        return BEGINNING
    first = await parts.reader.row("begin_of_log")
    begin: datetime = min(first["recorded_at"], until) if first else until
    return begin - (begin - BEGINNING) % STEPS[query.step]


def _step_count(query: queries.Summed, since: datetime, until: datetime) -> int:
    """Return the number of steps of a time span, rounded up. Raises FaultyInput for too many."""
    assert query.step is not None
    count = max(until - since, timedelta()) // STEPS[query.step] + 2
    if count > MAX_STEPS:
        message = f"the time span has {count:,} steps; at most {MAX_STEPS:,}: give a later `since`"
        raise FaultyInput([Fault("step", message if query.step == "day" else f"{message}, or step=day")])
    return count


async def _sums_of_each_system(parts: ReadParts, params: Row) -> tuple[orjson.Fragment, str | None]:
    row = await parts.reader.row("usage_of_each_system", params)
    assert row is not None
    return orjson.Fragment(row["groups"]), row["last"] if row["number"] == params["limit"] else None


async def usage_answer(
    parts: ReadParts, view: View, fqdn: str, query: queries.IntervalPage, page: paging.PageAt
) -> tuple[dict[str, Any], list[Any] | None]:
    """Return a page of the intervals of a system, cut to the time span, and the key of the last one.

    The seconds of all pages add up to the time span. Raises Unknown.
    """
    view.require_visible(fqdn)
    # Nothing is after `as_of`, or after now. All pages have the end of the first one.
    latest = max(filter(None, (paging.moment_of(view.at, parts), view.recorded_at)))
    asked = query.until if page.after == USAGE_START else paging.cursor_moment(page.after[0])
    until = min(asked or latest, latest)
    since = None if query.since is None else min(query.since, until)
    params = {"at": view.position, "fqdn": fqdn, "since": since, "until": until if until < latest else None}
    found, registration = await parts.reader.together(
        ("usage_of_system", {**params, "after": max(0, page.after[1]), "limit": page.limit}),
        ("registration_of_system", params),
    )
    if not registration:
        raise Unknown(display_name("system", fqdn))
    registered = registration[0]["since"]
    if since is None:
        since = registered
    elif since < registered and page.after == USAGE_START:
        found = [{**UNREGISTERED, "since": since, "until": registered}, *found][: page.limit]
    positions = [row["ordered_position"] for row in found if row["ordered_position"]]
    events = await asyncio.to_thread(parts.log.at, positions)
    is_open = query.until is None or query.until >= latest
    intervals = [_interval(row, since, until, events, is_open=is_open) for row in found]
    key = [rfc3339(until), found[-1]["since_position"]] if len(found) == page.limit else None
    return {"since": since, "until": max(since, until), "intervals": intervals}, key


def use_query(parts: ReadParts, view: View, fqdn: str) -> NamedQuery:
    """Return the query of the interval of a system at the moment of a read; its actor is in the log."""
    moment = paging.moment_of(view.at, parts)
    asked = {"fqdn": fqdn, "since": moment, "until": moment, "after": 0, "limit": 1}
    return "usage_of_system", {"at": view.position, **asked}


def _interval(
    row: Row, since: datetime, until: datetime, events: Mapping[int, Recorded], *, is_open: bool
) -> dict[str, Any]:
    """Return an interval, cut to the time span. One that goes on has no end if the time span `is_open`."""
    goes_on = row["until"] is None
    begin = max(row["since"], since)
    end = max(begin, until if goes_on else min(row["until"], until))
    ordered = events.get(row["ordered_position"])
    return {
        **row,
        "since": begin,
        "until": None if goes_on and is_open else end,
        "seconds": (end - begin) / timedelta(seconds=1),
        "begun_at": row["since"],
        "ordered_by": ordered and ordered.stamp.actor,
    }


class Usage:
    def __init__(self, parts: ReadParts) -> None:
        self._parts = parts

    @operation("List the usage intervals of a system", answers.SystemHistory, queries.IntervalPage)
    async def on_get(self, req: Request, resp: Response, fqdn: str) -> None:
        view = await read_view(req, self._parts)
        page = paging.page_at(req, view.at, first=USAGE_START)
        body, key = await usage_answer(self._parts, view, fqdn, query_of(req, queries.IntervalPage), page)
        paging.answer_page(req, resp, page, body, key)

    @operation("List the idle systems", answers.IdlePool, queries.PartitionPage, refuses=(404,))
    async def on_get_idle_pool(self, req: Request, resp: Response) -> None:
        view = await read_view(req, self._parts)
        page = paging.page_at(req, view.at, first="")
        found = await idle_systems(self._parts, view, query_of(req, queries.PartitionPage), page)
        paging.answer_listed(req, resp, page, "systems", found)

    @operation(
        "Sum the seconds of systems by condition and usage",
        answers.SystemUsage,
        queries.Summed,
        refuses=(404,),
    )
    async def on_get_summed(self, req: Request, resp: Response) -> None:
        view = await read_view(req, self._parts)
        page = paging.page_at(req, view.at, first="")
        body, key = await usage_sums(self._parts, view, query_of(req, queries.Summed), page)
        paging.answer_page(req, resp, page, body, key)


def _groups(rows: Iterable[Row], step: str | None, since: datetime, until: datetime) -> list[dict[str, Any]]:
    """Return the groups with their seconds. With a `step`, also those of the steps in which it has any."""
    groups: dict[str | None, dict[datetime, list[Row]]] = {}
    for row in rows:
        groups.setdefault(row["key"], {}).setdefault(row["step"] or since, []).append(row)
    found = []
    for key, of_steps in groups.items():
        group: dict[str, Any] = {"key": key, "seconds": _seconds(chain.from_iterable(of_steps.values()))}
        if step is not None:
            group["steps"] = [
                {
                    "since": max(begin, since),
                    "until": min(begin + STEPS[step], until),
                    "seconds": _seconds(of_steps[begin]),
                }
                for begin in sorted(of_steps)
            ]
        found.append(group)
    return found


def _seconds(rows: Iterable[Row]) -> dict[str, dict[str, float]]:
    """Return condition -> usage -> seconds. Sums of whole microseconds do not depend on their order."""
    sums: dict[str, Counter[str]] = {}
    for row in rows:
        sums.setdefault(row["condition"], Counter())[row["usage"]] += row["microseconds"]
    return {
        condition: {usage: number / 1_000_000 for usage, number in of_usage.items()}
        for condition, of_usage in sums.items()
    }


def _page(groups: list[dict[str, Any]], page: paging.PageAt) -> tuple[list[dict[str, Any]], str | None]:
    """Return a page of the groups by key, a null key last, and the key of its last group if more follow.

    Python sorts them, because the database may sort by another collation than the comparison with `after`.
    """
    remaining = [group for group in groups if group["key"] is None or group["key"] > page.after]
    remaining.sort(key=lambda group: (group["key"] is None, group["key"]))
    shown = remaining[: page.limit]
    return shown, shown[-1]["key"] if len(remaining) > len(shown) else None
