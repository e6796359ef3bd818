"""/maintenance-windows: times in which nothing new starts on their systems"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from functools import partial
from typing import Any

import orjson
from falcon.asgi import Request, Response

from api.rest import paging
from api.rest.body import parse_model, read_json_bytes, read_model
from api.rest.context import keyed_request, query_of, request_of
from api.rest.contract import queries
from api.rest.contract.answers import maintenance as answers
from api.rest.contract.inputs import maintenance as inputs
from api.rest.contract.operation import MAX_BATCH_BYTES, operation
from api.rest.ports import ChangeParts, ReadParts
from api.rest.views import View, read_view
from api.use_cases.add_maintenance_window import NewWindow, add_window, plan_window
from api.use_cases.change_maintenance_window import WindowMove, end_window, move_window
from api.use_cases.idempotency import commit_once
from domain.errors import Unknown, display_name
from domain.maintenance.unfinished import Unfinished, unfinished
from domain.maintenance.window import ENDED, KIND, state_at, times_of
from domain.recipe.state import Recipe
from projections.read_sessions import NamedQuery, Row

# The key before all others: windows are listed by falling numbers.
BEFORE_ALL = 2**31 - 1
_SELECTION = ("systems", "pool", "lab_controller", "location")


def windows_query(
    view: View,
    moment: datetime,
    limit: int,
    *,
    after: int = BEFORE_ALL,
    unended: bool = False,
    filters: Mapping[str, str | None] = {},
) -> NamedQuery:
    """Return the query for windows, newest first, with the filters of `MaintenancePage`."""
    params = {"system": None, "state": None, **filters}
    return "maintenance_windows", {
        **params,
        "unended": unended or params["state"] not in (None, ENDED),
        "at": view.position,
        "moment": moment,
        "limit": limit,
        "after": after,
    }


def window_document(view: View, moment: datetime, row: Row) -> Row:
    """Return a window at a moment, without the systems that are hidden from the reader."""
    return _shown(row["number"], row["document"], moment, view.hidden)


def _shown(
    number: int | None, document: Mapping[str, Any], moment: datetime, hidden: frozenset[str] = frozenset()
) -> Row:
    systems = document["systems"]
    never_ended = {"ended_at": None, "end_reason": None}
    shown = {name: value for name, value in document.items() if name != "has_all_rights"}
    return {
        **never_ended,
        **shown,
        "number": number,
        "state": state_at(document, moment),
        # A new window may have a lead that began before it was added.
        "drains_at": max(times_of(document).drains_at, datetime.fromisoformat(document["added_at"])),
        "systems": systems and [fqdn for fqdn in systems if fqdn not in hidden],
    }


async def window_list(
    parts: ReadParts, view: View, query: queries.MaintenancePage, page: paging.PageAt
) -> paging.Listed:
    """Return a page of the windows, newest first. Raises Unknown for a hidden system in the query."""
    if query.system is not None:
        view.require_visible(query.system)
    moment = paging.moment_of(view.at, parts)
    filtered = {"system": query.system, "state": query.state}
    asked = windows_query(view, moment, page.limit, after=page.after, filters=filtered)
    rows = await parts.reader.rows(*asked)
    shown = [window_document(view, moment, row) for row in rows]
    return paging.listed(page, shown, rows[-1]["number"] if rows else None)


async def window_answer(parts: ChangeParts, view: View, number: int) -> tuple[int, Row]:
    """Return the version of a window, and the answer about it. Raises Unknown."""
    asked = {"kind": KIND, "name": str(number), "at": view.position}
    row = await parts.reader.row("document", asked)
    if row is None:
        raise Unknown(display_name(KIND, number))
    document, moment = row["document"], paging.moment_of(view.at, parts)
    selected = {name: document[name] for name in _SELECTION}
    params = {**selected, "at": view.position, "hidden": view.hidden_rows}
    systems = await parts.reader.rows("covered_systems", params)
    found = Unfinished()
    if state_at(document, moment) != ENDED:
        numbers = [system["recipe_id"] for system in systems if system["recipe_id"] is not None]
        recipes = await asyncio.to_thread(_recipes, parts, numbers, view.position)
        found = unfinished(systems, recipes, times_of(document).starts_at, moment)
    return row["version"], {
        **_shown(number, document, moment, view.hidden),
        "covered_systems": [system["fqdn"] for system in systems],
        "unfinished": asdict(found),
    }


def _recipes(parts: ChangeParts, numbers: list[int], position: int) -> dict[int, Recipe]:
    states = parts.aggregates.all_as_of([f"recipe/{number}" for number in numbers], position).values()
    return {state.recipe_id: state for state in states if isinstance(state, Recipe)}


class MaintenanceWindows:
    def __init__(self, parts: ChangeParts) -> None:
        self._parts = parts

    @operation(
        "List the maintenance windows, newest first",
        answers.MaintenanceWindowList,
        queries.MaintenancePage,
        refuses=(404,),
    )
    async def on_get(self, req: Request, resp: Response) -> None:
        view = await read_view(req, self._parts)
        page = paging.page_at(req, view.at, BEFORE_ALL)
        found = await window_list(self._parts, view, query_of(req, queries.MaintenancePage), page)
        paging.answer_listed(req, resp, page, "maintenance_windows", found)

    @operation(
        "Show a maintenance window with its systems, and what will not be finished when it starts",
        answers.ShownMaintenanceWindow,
        queries.ReadQuery,
        versioned=True,
    )
    async def on_get_one(self, req: Request, resp: Response, number: int) -> None:
        view = await read_view(req, self._parts)
        version, body = await window_answer(self._parts, view, number)
        paging.answer_read(resp, view.at, body, version=version)

    @operation(
        "Add a maintenance window, whose systems are drained in time and undrained at its end",
        answers.MaintenanceWindowAdded,
        queries.DryRunQuery,
        body=inputs.NewMaintenanceWindow,
        max_bytes=MAX_BATCH_BYTES,
        keyed=True,
    )
    async def on_post(self, req: Request, resp: Response) -> None:
        body = await read_json_bytes(req)
        given: inputs.NewMaintenanceWindow = await parse_model(req, body)
        wanted, request = new_window(given), keyed_request(req, body)
        if query_of(req, queries.DryRunQuery).dry_run:
            planned = (await plan_window(self._parts, request, wanted)).answer(None)
            position = await paging.position_of(self._parts.log, None)
        else:
            done = await commit_once(
                self._parts.log, request, partial(add_window, self._parts, request, wanted)
            )
            assert done is not None and done.answer is not None, "a window was added, with an answer"
            planned, position = done.answer, done.position
        found = orjson.loads(planned)
        number, document = found.pop("number"), found.pop("document")
        moment = datetime.fromisoformat(document["added_at"])
        shown = {**_shown(number, document, moment), **found, "dry_run": number is None}
        paging.answer(resp, position, shown)

    @operation(
        "Move a maintenance window: its start before that, its end before that",
        answers.MaintenanceWindowChanged,
        body=inputs.MaintenanceWindowMove,
        versioned=True,
    )
    async def on_patch_one(self, req: Request, resp: Response, number: int) -> None:
        given: inputs.MaintenanceWindowMove = await read_model(req)
        wanted = WindowMove(given.starts_at, given.ends_at, given.lead_seconds)
        done = await move_window(self._parts, request_of(req), number, wanted)
        answer = {"number": number, "changed": done is not None}
        await paging.answer_write(resp, self._parts.log, done, answer)

    @operation(
        "End a maintenance window before its time, or before it has started",
        answers.MaintenanceWindowEnded,
        body=inputs.MaintenanceWindowEnd,
        keyed=True,
    )
    async def on_post_end(self, req: Request, resp: Response, number: int) -> None:
        body = await read_json_bytes(req)
        given: inputs.MaintenanceWindowEnd = await parse_model(req, body)
        request = keyed_request(req, body)
        write = partial(end_window, self._parts, request, number, given.reason)
        done = await commit_once(self._parts.log, request, write)
        await paging.answer_write(resp, self._parts.log, done, {"number": number, "ended": True})


def new_window(given: inputs.NewMaintenanceWindow) -> NewWindow:
    return NewWindow(
        given.reason,
        given.starts_at,
        given.ends_at,
        given.lead_seconds,
        given.systems or None,
        given.pool,
        given.lab_controller,
        given.location,
    )
