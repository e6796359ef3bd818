"""/systems/{fqdn}/history: the changes of a system, with time, actor, and old and new values."""

from __future__ import annotations

import asyncio
from typing import Any

from falcon.asgi import Request, Response

from api.rest import paging, visibility
from api.rest.contract import queries
from api.rest.contract.answers.inventory import SystemChanges
from api.rest.contract.operation import operation
from api.rest.ports import ReadParts
from api.rest.resources.shapes import Row, shown_differences
from domain.errors import Unknown, display_name
from domain.events import Recorded, shown_of
from domain.system.differences import differences
from projections.intervals import OPEN_UNTIL

# Columns that are not properties of the system, and columns that have another name in the API.
OMITTED = frozenset({"fqdn", "inventory", "since_position", "since", "until_position", "until"})
API_NAMES = {"reserved_by": "user", "reserved_distro_tree_id": "reserved_distro_tree"}


class History:
    def __init__(self, parts: ReadParts) -> None:
        self._parts = parts

    @operation("List the changes of a system, latest first", SystemChanges, queries.Page)
    async def on_get(self, req: Request, resp: Response, fqdn: str) -> None:
        page = await paging.read_page(req, self._parts, first=OPEN_UNTIL)
        await visibility.require_visible(req, self._parts, fqdn)
        params = {"at": page.position, "fqdn": fqdn, "before": page.after, "limit": page.limit}
        rows = await self._parts.reader.rows("changes_of_system", params)
        exists = rows or await self._parts.reader.row("system_is_known", {"at": page.position, "fqdn": fqdn})
        if not exists:
            raise Unknown(display_name("system", fqdn))
        positions = [row["since_position"] for row in rows]
        events = await asyncio.to_thread(self._parts.log.at, positions)
        changes = [_change(row, events[row["since_position"]]) for row in rows]
        paging.answer_list(req, resp, page, "changes", changes, positions[-1] if rows else None)


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
