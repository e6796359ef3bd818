"""Common parts of all reads: positions, `as_of`, `min_position`, pages and cursors."""

from __future__ import annotations

import asyncio
import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import orjson
from falcon.asgi import Request, Response

from api.concurrency_limits import share_of
from api.headers import CSV, POSITION_HEADER
from api.rest.context import query_of
from api.rest.contract.operation import JSON
from api.rest.contract.queries import Page, ReadQuery
from api.rest.ports import ReadParts
from api.use_cases.ports import Log
from domain.errors import Fault, FaultyInput
from projections.reader import At
from store.requests import Committed


@dataclass(frozen=True)
class PageAt:
    """The requested page of a list: its limit, the key before it, and the position."""

    at: At
    limit: int
    after: Any

    @property
    def position(self) -> int:
        return self.at.position


async def read_at(req: Request, parts: ReadParts) -> At:
    """Return the position to read at: `as_of` if given, else the latest, at least `min_position`.

    While the read models are built for the first time, only positions that they have reached can be read.
    """
    query = query_of(req, ReadQuery)
    reader, patience_seconds = parts.reader, parts.bounds.position_wait_seconds
    if query.min_position > reader.position:
        with share_of(req).waiting():
            await reader.reach(query.min_position, patience_seconds)
    at = await reader.as_of(query.as_of)
    await reader.reach(at.position, patience_seconds)
    return at


async def read_page(req: Request, parts: ReadParts, first: Any) -> PageAt:
    """Return the requested page; `first` is the key before all others."""
    query = query_of(req, Page)
    after = first if query.cursor is None else _key(query.cursor, first)
    return PageAt(await read_at(req, parts), query.limit, after)


async def answer_write(resp: Response, log: Log, done: Committed | None, body: Mapping[str, Any]) -> None:
    """Answer a write, with the position that reflects it even if nothing was changed."""
    answer(resp, await position_of(log, done), body)


async def position_of(log: Log, done: Committed | None) -> int:
    return done.position if done else await asyncio.to_thread(log.end)


def answer_read(resp: Response, at: At, body: Mapping[str, Any]) -> None:
    """Answer a read. An answer about the past has its time, at which unfinished intervals end."""
    answer(resp, at.position, body if at.moment is None else {"as_of": at.moment, **body})


def answer(resp: Response, position: int, body: Mapping[str, Any]) -> None:
    """Answer with the position that is reflected."""
    resp.set_header(POSITION_HEADER, str(position))
    resp.content_type = JSON
    resp.data = orjson.dumps({"position": position, **body}, option=orjson.OPT_UTC_Z)


def answer_list(
    req: Request, resp: Response, page: PageAt, name: str, rows: list[dict[str, Any]], key: Any
) -> None:
    """Answer a page of a list; `next` and the Link header have the next page, if there may be one."""
    answer_page(req, resp, page, {name: rows}, key if len(rows) == page.limit else None)


def answer_page(req: Request, resp: Response, page: PageAt, body: Mapping[str, Any], key: Any) -> None:
    """Answer a page of a list with more fields. `key` is None on the last page."""
    answer_read(resp, page.at, {**body, "next": _following(req, resp, key)})


def answer_table(req: Request, resp: Response, page: PageAt, text: str, key: Any) -> None:
    """Answer a page as a table, with the position and the next page in headers only."""
    _following(req, resp, key)
    resp.set_header(POSITION_HEADER, str(page.position))
    resp.content_type = CSV
    resp.data = text.encode()


def _following(req: Request, resp: Response, key: Any) -> str | None:
    if key is None:
        return None
    params = {**req.params, "cursor": _encode(key)}
    following = f"{req.path}?{urlencode(params, doseq=True)}"
    resp.append_header("Link", f'<{following}>; rel="next"')
    return following


def _encode(key: Any) -> str:
    return base64.urlsafe_b64encode(orjson.dumps(key)).decode()


def _key(cursor: str, first: Any) -> Any:
    """Return the key in a cursor. Raises FaultyInput if the cursor is not from such a list."""
    try:
        key = orjson.loads(base64.urlsafe_b64decode(cursor))
    except (binascii.Error, ValueError):
        key = None
    if not _alike(key, first):
        raise FaultyInput([Fault("cursor", "must be the `next` of a page of this list")])
    return key


def _alike(key: Any, first: Any) -> bool:
    """Return whether the key of a cursor has the same types as the first key of the list."""
    if isinstance(first, list):
        return (
            isinstance(key, list)
            and len(key) == len(first)
            and all(_alike(one, other) for one, other in zip(key, first, strict=True))
        )
    if isinstance(key, str) and "\0" in key:
        return False
    return type(key) is type(first) and (not isinstance(key, int) or abs(key) < 2**63)
