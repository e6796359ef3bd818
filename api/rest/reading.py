"""What all reads have in common: positions, `as_of`, `min_position`, pages and cursors."""

from __future__ import annotations

import asyncio
import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

import orjson
from falcon.asgi import Request, Response

from api.rest.contract.queries import Page, Read
from api.rest.resources.shapes import seconds_document
from api.services import Services
from api.store.requests import Committed
from domain.errors import Fault, FaultyInput
from projections.reader import Reader

POSITION_HEADER = "Labledger-Position"


@dataclass(frozen=True)
class PageAt:
    """What part of a list is asked for: how many, after which key, as of which position."""

    at: int
    limit: int
    after: Any


async def read_at(req: Request, services: Services) -> int:
    """The position to read at: `as_of` (a position or a time), else the latest, after `min_position`."""
    query: Read = req.context.query
    reader, patience_seconds = services.reader, services.bounds.position_wait_seconds
    await reader.reach(query.min_position, patience_seconds)
    at = await reader.as_of(query.as_of)
    await reader.reach(at, patience_seconds)
    req.context.as_of = None if query.as_of is None else await _moment_at(reader, query.as_of, at)
    return at


async def _moment_at(reader: Reader, asked: int | datetime, at: int) -> datetime | None:
    """The moment a read of the past is about; None before the first event."""
    by_time = isinstance(asked, datetime)
    row = await reader.row(*(("moment_at_time", (asked,)) if by_time else ("moment_at_position", (at,))))
    moment: datetime | None = row["moment"] if row else None
    return moment


async def seconds(req: Request, reader: Reader, asked: Mapping[str, Any]) -> dict[str, Any]:
    """How long the recipes asked for were in each state, up to the moment that the answer speaks of."""
    rows = await reader.rows("seconds_in_states", {**asked, "moment": req.context.as_of})
    return seconds_document(rows)


async def tag(resp: Response, services: Services, subject: str, at: int) -> None:
    """Give the answer the ETag of an aggregate: its version."""
    row = await services.reader.row("version", {"subject": subject, "at": at})
    if row is not None:
        resp.etag = str(row["version"])


async def read_page(req: Request, services: Services, first: Any) -> PageAt:
    """`first` is the key before all others, for a list that is read from its start."""
    query: Page = req.context.query
    after = first if query.cursor is None else _key(query.cursor, first)
    return PageAt(await read_at(req, services), query.limit, after)


async def answer_write(
    resp: Response, services: Services, done: Committed | None, body: Mapping[str, Any]
) -> None:
    """A write's answer, with the position that reflects it also where nothing was left to change."""
    answer(resp, await position_of(services, done), body)


async def position_of(services: Services, done: Committed | None) -> int:
    return done.position if done else await asyncio.to_thread(services.log.end)


def answer_read(req: Request, resp: Response, at: int, body: Mapping[str, Any]) -> None:
    """A read's answer. One of the past has its moment: what had not ended lasted until then."""
    moment = req.context.as_of
    answer(resp, at, body if moment is None else {"as_of": moment, **body})


def answer(resp: Response, at: int, body: Mapping[str, Any]) -> None:
    """An answer, with the position it reflects."""
    resp.set_header(POSITION_HEADER, str(at))
    resp.content_type = "application/json"
    resp.data = orjson.dumps({"position": at, **body}, option=orjson.OPT_UTC_Z)


def answer_list(
    req: Request, resp: Response, page: PageAt, name: str, rows: list[dict[str, Any]], key: Any
) -> None:
    """A page of a list; `next` and the Link lead to the page after it, if there may be one."""
    following = None
    if len(rows) == page.limit:
        params = {**req.params, "cursor": _encode(key)}
        following = f"{req.path}?{urlencode(params, doseq=True)}"
        resp.append_header("Link", f'<{following}>; rel="next"')
    answer_read(req, resp, page.at, {name: rows, "next": following})


def _encode(key: Any) -> str:
    return base64.urlsafe_b64encode(orjson.dumps(key)).decode()


def _key(cursor: str, first: Any) -> Any:
    """Raises FaultyInput for what is no cursor of such a list."""
    try:
        key = orjson.loads(base64.urlsafe_b64decode(cursor))
    except (binascii.Error, ValueError):
        key = None
    if not _alike(key, first):
        raise FaultyInput([Fault("cursor", "this is no cursor that a list has given")])
    return key


def _alike(key: Any, first: Any) -> bool:
    """Whether a cursor's key has the shape of the list's first one."""
    if isinstance(first, list):
        return (
            isinstance(key, list)
            and len(key) == len(first)
            and all(_alike(one, other) for one, other in zip(key, first, strict=True))
        )
    if isinstance(key, str) and "\0" in key:
        return False
    return type(key) is type(first) and (not isinstance(key, int) or abs(key) < 2**63)
