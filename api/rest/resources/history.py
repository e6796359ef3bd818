"""/systems/{fqdn}/history: the changes of a system, with time, actor, and old and new values."""

from __future__ import annotations

import asyncio
from typing import Any

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
# The key before all changes, of which the latest is the first.
BEFORE_ALL = OPEN_UNTIL


async def change_list(parts: ReadParts, view: View, fqdn: str, page: paging.PageAt) -> paging.Listed:
    """Return a page of the changes of a system, latest first. Raises Unknown."""
    view.require_visible(fqdn)
    changes = await _changes(parts, view, fqdn, page.limit, before=page.after)
    exists = changes or await parts.reader.row("system_is_known", {"at": view.position, "fqdn": fqdn})
    if not exists:
        raise Unknown(display_name("system", fqdn))
    return paging.listed(page, changes, changes[-1]["position"] if changes else None)


async def condition_change(parts: ReadParts, view: View, fqdn: str) -> dict[str, Any]:
    """Return the change that brought the condition of a system: the latest one of it. Raises Unknown."""
    view.require_visible(fqdn)
    changes = await _changes(parts, view, fqdn, 1, of_condition=True)
    if not changes:
        raise Unknown(display_name("system", fqdn))
    return changes[0]


async def _changes(
    parts: ReadParts,
    view: View,
    fqdn: str,
    limit: int,
    *,
    before: int = BEFORE_ALL,
    of_condition: bool = False,
) -> list[dict[str, Any]]:
    params = {"at": view.position, "fqdn": fqdn, "before": before, "limit": limit}
    rows = await parts.reader.rows("changes_of_system", {**params, "of_condition": of_condition})
    events = await asyncio.to_thread(parts.log.at, [row["since_position"] for row in rows])
    return [_change(row, events[row["since_position"]]) for row in rows]


class History:
    def __init__(self, parts: ReadParts) -> None:
        self._parts = parts

    @operation("List the changes of a system, latest first", SystemChanges, queries.Page)
    async def on_get(self, req: Request, resp: Response, fqdn: str) -> None:
        view = await read_view(req, self._parts)
        page = paging.page_at(req, view.at, BEFORE_ALL)
        paging.answer_listed(req, resp, page, "changes", await change_list(self._parts, view, fqdn, page))


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
