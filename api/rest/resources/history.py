"""/systems/{fqdn}/history: the changes of a system, with time, actor, and old and new values."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from falcon.asgi import Request, Response

from api.rest import paging
from api.rest.contract import queries
from api.rest.contract.answers.inventory import SystemChanges
from api.rest.contract.operation import operation
from api.rest.ports import ReadParts
from api.rest.resources.shapes import Row, shown_differences
from api.rest.views import View, read_view
from domain.errors import Unknown, display_name
from domain.events import Recorded, shown_of
from domain.system.differences import differences
from projections.intervals import OPEN_UNTIL

# Columns that are not properties of the system, and columns that have another name in the API.
OMITTED = frozenset({"fqdn", "inventory", "since_position", "since", "until_position", "until"})
API_NAMES = {"reserved_by": "user", "reserved_distro_tree_id": "reserved_distro_tree"}
# The key before all changes: the latest one comes first.
BEFORE_ALL = OPEN_UNTIL


class SystemHistory(NamedTuple):
    """A page of the changes of a system, latest first, and the change that brought its condition.

    `actors` has those of further events, by position.
    """

    listed: paging.Listed
    of_condition: dict[str, Any]
    actors: Mapping[int | None, str]


async def history_answer(
    parts: ReadParts, view: View, fqdn: str, page: paging.PageAt, *, more_positions: Sequence[int] = ()
) -> SystemHistory:
    """Return a page of the history of a system, and the actors of more events. Raises Unknown."""
    view.require_visible(fqdn)
    params = {"at": view.position, "fqdn": fqdn, "before": page.after, "limit": page.limit}
    rows, of_condition = await parts.reader.together(
        ("changes_of_system", {**params, "of_condition": False}),
        ("changes_of_system", {**params, "before": BEFORE_ALL, "limit": 1, "of_condition": True}),
    )
    if not of_condition:
        raise Unknown(display_name("system", fqdn))
    positions = [row["since_position"] for row in (*of_condition, *rows)]
    events = await asyncio.to_thread(parts.log.at, [*positions, *more_positions])
    latest, *changes = (_change(row, events[row["since_position"]]) for row in (*of_condition, *rows))
    actors: dict[int | None, str] = {position: events[position].stamp.actor for position in more_positions}
    return SystemHistory(paging.listed(page, changes, positions[-1] if rows else None), latest, actors)


class History:
    def __init__(self, parts: ReadParts) -> None:
        self._parts = parts

    @operation("List the changes of a system, latest first", SystemChanges, queries.Page)
    async def on_get(self, req: Request, resp: Response, fqdn: str) -> None:
        view = await read_view(req, self._parts)
        page = paging.page_at(req, view.at, BEFORE_ALL)
        found = await history_answer(self._parts, view, fqdn, page)
        paging.answer_listed(req, resp, page, "changes", found.listed)


def _change(row: Row, recorded: Recorded) -> dict[str, Any]:
    found = differences(_document(row["was"]), _document(row["becomes"]))
    return {
        "position": recorded.position,
        "at": recorded.recorded_at,
        "topic": recorded.event.TOPIC,
        "actor": recorded.stamp.actor,
        "cause": recorded.stamp.cause,
        "reason": shown_of(recorded.event).get("reason"),
        "changes": shown_differences(found),
    }


def _document(row: Row | None) -> dict[str, Any]:
    """Return all properties of a system as of one version, None before its registration."""
    if row is None:
        return {"draining": False}
    shown = {name: value for name, value in row.items() if name not in OMITTED}
    return {**row["inventory"], **{API_NAMES.get(name, name): _plain(name, shown[name]) for name in shown}}


def _plain(name: str, value: Any) -> Any:
    return value.replace("+00:00", "Z") if name.endswith("_until") and value else value
