"""Functions that all reads share, for positions, `as_of`, `min_position`, pages and cursors."""

from __future__ import annotations

import asyncio
import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple
from urllib.parse import urlencode

import orjson
from falcon.asgi import Request, Response

from api.concurrency_limits import share_of
from api.headers import CSV, POSITION_HEADER
from api.rest.context import query_of
from api.rest.contract.operation import JSON
from api.rest.contract.queries import PresentPage, ReadQuery
from api.rest.ports import ReadParts
from api.use_cases.ports import Log
from domain.errors import Fault, FaultyInput
from projections.reader import At
from store.requests import Committed


class Listed(NamedTuple):
    """The items of a page of a list, and the key of the last one, None on the last page."""

    items: list[dict[str, Any]]
    key: Any


@dataclass(frozen=True)
class PageAt:
    """The requested page of a list: its position, its limit, and the key of the item before it."""

    at: At
    limit: int
    after: Any

    @property
    def position(self) -> int:
        return self.at.position


async def read_at(req: Request, parts: ReadParts) -> At:
    """Return the position to read at: `as_of` if given, else the latest, after waiting for `min_position`.

    While the read models are built for the first time, only positions that they have reached can be read.
    """
    query = query_of(req, ReadQuery)
    reader, max_wait_seconds = parts.reader, parts.max_waits.position_wait_seconds
    if query.min_position > reader.position:
        with share_of(req).waiting():
            await reader.reach(query.min_position, max_wait_seconds)
    at = await reader.as_of(query.as_of)
    await reader.reach(at.position, max_wait_seconds)
    return at


def moment_of(at: At, parts: ReadParts) -> datetime:
    """Return the time of a read about the past, else the present. Recipes are weighed at this moment."""
    return at.moment or parts.clock()


def page_at(req: Request, at: At, first: Any) -> PageAt:
    """Return the requested page as of a position that has been read. Raises FaultyInput for its cursor.

    `first` is a key before those of all items.
    """
    query = query_of(req, PresentPage)
    after = first if query.cursor is None else _decode(query.cursor, first)
    return PageAt(at, query.limit, after)


async def answer_write(resp: Response, log: Log, done: Committed | None, body: Mapping[str, Any]) -> None:
    """Answer a write with its position, or with the end of the log if nothing was changed."""
    answer(resp, await position_of(log, done), body)


async def position_of(log: Log, done: Committed | None) -> int:
    return done.position if done else await asyncio.to_thread(log.end)


def answer_read(resp: Response, at: At, body: Mapping[str, Any], *, version: int | None = None) -> None:
    """Answer a read. If it is about the past, the answer contains its time as `as_of`.

    `version` is that of the resource, for its ETag.
    """
    if version is not None:
        resp.etag = str(version)
    answer(resp, at.position, body if at.moment is None else {"as_of": at.moment, **body})


def answer(resp: Response, position: int, body: Mapping[str, Any]) -> None:
    resp.set_header(POSITION_HEADER, str(position))
    resp.content_type = JSON
    resp.data = orjson.dumps({"position": position, **body}, option=orjson.OPT_UTC_Z)


def answer_listed(req: Request, resp: Response, page: PageAt, name: str, listed: Listed) -> None:
    """Answer a page of a list, with the path of the next one unless it is the last."""
    answer_page(req, resp, page, {name: listed.items}, listed.key)


def listed(page: PageAt, items: list[dict[str, Any]], key: Any) -> Listed:
    """Return a page of a list. Only a full one may have a next one."""
    return Listed(items, key if len(items) == page.limit else None)


def answer_page(req: Request, resp: Response, page: PageAt, body: Mapping[str, Any], key: Any) -> None:
    """Answer a page of a list as `body`. `key` is that of its last item, None on the last page."""
    answer_read(resp, page.at, {**body, "next": next_path(req, resp, key)})


def answer_table(req: Request, resp: Response, page: PageAt, text: str, key: Any) -> None:
    """Answer a page as CSV, with the position and the next page in headers."""
    next_path(req, resp, key)
    resp.set_header(POSITION_HEADER, str(page.position))
    resp.content_type = CSV
    resp.data = text.encode()


def next_path(req: Request, resp: Response, key: Any) -> str | None:
    """Return the path of the page after an item, and add it to the Link header; None on the last page."""
    if key is None:
        return None
    params = {**req.params, "cursor": _encode(key)}
    path = f"{req.path}?{urlencode(params, doseq=True)}"
    resp.append_header("Link", f'<{path}>; rel="next"')
    return path


def _encode(key: Any) -> str:
    return base64.urlsafe_b64encode(orjson.dumps(key)).decode()


def _decode(cursor: str, first: Any) -> Any:
    """Return the key in a cursor. Raises FaultyInput if it does not have the types of `first`."""
    try:
        key = orjson.loads(base64.urlsafe_b64decode(cursor))
    except (binascii.Error, ValueError):
        key = None
    if not _has_types_of(first, key):
        raise no_cursor()
    return key


def cursor_moment(text: str) -> datetime:
    """Return the moment in a cursor. Raises FaultyInput if it is none."""
    try:
        return datetime.fromisoformat(text).astimezone(UTC)
    except (ValueError, OverflowError):
        raise no_cursor() from None


def no_cursor() -> FaultyInput:
    return FaultyInput([Fault("cursor", "must be the `next` of a page of this list")])


def _has_types_of(first: Any, key: Any) -> bool:
    """Return whether a key has the types of `first`, and only values that the database accepts."""
    if isinstance(first, list):
        return (
            isinstance(key, list)
            and len(key) == len(first)
            and all(_has_types_of(*pair) for pair in zip(first, key, strict=True))
        )
    if isinstance(key, str) and "\0" in key:
        return False
    return type(key) is type(first) and (not isinstance(key, int) or abs(key) < 2**63)
