"""The pages for audits: the events of the log, one event with those that it caused, and auditors' reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson
from falcon.asgi import Request, Response

from api.pages.filters import FilterField
from api.pages.page import page_view, show
from api.pages.security import HTML
from api.parts import Parts
from api.rest.context import query_of
from api.rest.contract.operation import operation
from api.rest.contract.queries import CausedQuery, EventQuery, ReadsPageQuery
from api.rest.resources.event_answers import event_answer, event_list
from api.rest.resources.reads import read_list
from domain.events import TOPICS
from domain.rfc3339 import rfc3339

# These pages begin with the newest, because people look for what happened a moment ago.
NEWEST_FIRST = {"newest_first": True}


class EventPages:
    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    @operation("Show the events of the log, newest first", None, EventQuery, gives=(HTML,), refuses=(404,))
    async def on_get_list(self, req: Request, resp: Response) -> None:
        view, query = await page_view(req, self._parts), query_of(req, EventQuery)
        found = await event_list(self._parts, view, query.model_copy(update=NEWEST_FIRST))
        values = {
            "events": found.events,
            "before": found.following,
            # With an actor, a page may be empty although older pages have events.
            "searched_to": None if found.events else found.following,
            "is_first": query.before is None,
            "filters": _filters(query),
        }
        await show(req, resp, self._parts, view, "events.html", values)

    @operation("Show an event", None, CausedQuery, gives=(HTML,))
    async def on_get(self, req: Request, resp: Response, position: int) -> None:
        view, query = await page_view(req, self._parts), query_of(req, CausedQuery)
        found = await event_answer(self._parts, view, position, query.caused_after)
        values = {**found, "data": _texts(found["event"]["data"])}
        await show(req, resp, self._parts, view, "event.html", values)


class ReadsPage:
    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    @operation("Show the reads of auditors, newest first", None, ReadsPageQuery, gives=(HTML,))
    async def on_get(self, req: Request, resp: Response) -> None:
        view, query = await page_view(req, self._parts), query_of(req, ReadsPageQuery)
        until = view.at.moment if view.is_past else None
        found = await read_list(self._parts, query.model_copy(update=NEWEST_FIRST), until)
        values = {
            "reads": found.reads,
            "before": found.following,
            "is_first": query.before is None,
            "filters": [_field("user", query.user or "")],
        }
        await show(req, resp, self._parts, view, "reads.html", values)


def _filters(query: EventQuery) -> list[FilterField]:
    """Return the fields of the filter form. Several topics can be given in the address, or with commas."""
    topics, subjects = ",".join(query.types), ",".join(query.subject)
    times = ((name, getattr(query, name)) for name in ("since", "until"))
    return [
        _field("subject", subjects),
        _field("types", topics, None if len(query.types) > 1 else sorted(TOPICS)),
        _field("actor", query.actor or ""),
        *(_field(name, "" if at is None else rfc3339(at)) for name, at in times),
        _field("partition", query.partition or ""),
    ]


def _field(name: str, value: str, choices: Sequence[str] | None = None) -> FilterField:
    return FilterField(name, value, choices, is_optional=True)


def _texts(data: dict[str, Any]) -> dict[str, str]:
    """Return the fields of an event as texts; a list or an object is JSON."""
    return {name: value if isinstance(value, str) else _json(value) for name, value in data.items()}


def _json(value: Any) -> str:
    return orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_UTC_Z).decode()
