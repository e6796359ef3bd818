"""What all reads have in common: positions, `as_of`, `min_position`, pages and cursors."""

from __future__ import annotations

import asyncio
import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

import orjson
from falcon.asgi import Request, Response

from api.intake.limits import WORDS_LENGTH
from api.services import Services
from api.store.requests import Committed
from domain.errors import Fault, FaultyInput
from projections.reader import Reader

POSITION_HEADER = "Labledger-Position"
DEFAULT_LIMIT = 100
MAX_LIMIT = 1_000
MAX_POSITION = 2**63 - 2
MIN_POSITION_WAIT_SECONDS = 5.0
# What every read of the read models takes.
POSITIONS = ("as_of", "min_position")


@dataclass(frozen=True)
class Page:
    """What part of a list is asked for: how many, after which key, as of which position."""

    at: int
    limit: int
    after: Any


async def read_at(req: Request, reader: Reader) -> int:
    """The position to read at: `as_of` (a position or a time), else the latest, after `min_position`."""
    faults: list[Fault] = []
    least = integer(req, "min_position", 0, MAX_POSITION, 0, faults)
    moment = _as_of(req, faults)
    check_params(faults)
    await reader.reach(least, MIN_POSITION_WAIT_SECONDS)
    at = await reader.as_of(moment)
    await reader.reach(at, MIN_POSITION_WAIT_SECONDS)
    req.context.as_of = None if moment is None else await _moment_at(reader, moment, at)
    return at


async def _moment_at(reader: Reader, asked: int | datetime, at: int) -> datetime | None:
    """The moment a read of the past is about; None before the first event."""
    by_time = isinstance(asked, datetime)
    row = await reader.row(*(("moment_at_time", (asked,)) if by_time else ("moment_at_position", (at,))))
    moment: datetime | None = row["moment"] if row else None
    return moment


async def read_page(req: Request, reader: Reader, first: Any) -> Page:
    """`first` is the key before all others, for a list that is read from its start."""
    faults = unknown_params(req, *POSITIONS, "limit", "cursor")
    limit = integer(req, "limit", 1, MAX_LIMIT, DEFAULT_LIMIT, faults)
    after = _cursor(req, first, faults)
    check_params(faults)
    return Page(await read_at(req, reader), limit, after)


def integer(req: Request, name: str, least: int, most: int, default: int, faults: list[Fault]) -> int:
    text = req.get_param(name)
    if text is None:
        return default
    if text.isascii() and text.isdigit() and len(text) < 20 and least <= int(text) <= most:
        return int(text)
    faults.append(Fault(name, f"{text!r} is no whole number from {least} to {most}"))
    return default


def moment(text: str) -> datetime | None:
    """An RFC 3339 time with its zone, None for anything else."""
    try:
        # A space is what a plus sign becomes in a query.
        when = datetime.fromisoformat(text.replace(" ", "+"))
        return None if when.tzinfo is None else when.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def time_param(req: Request, name: str, faults: list[Fault]) -> datetime | None:
    text = req.get_param(name)
    if text is None:
        return None
    when = moment(text)
    if when is None:
        faults.append(Fault(name, f"{text!r} is no RFC 3339 time with a zone"))
    return when


def unknown_params(req: Request, *known: str) -> list[Fault]:
    """A misspelt one must not be dropped in silence: the answer would look like what was asked for."""
    words = f"is no parameter here; known are {', '.join(known)}"
    return [Fault(name[:WORDS_LENGTH], words) for name in req.params if name not in known]


def check_params(faults: list[Fault]) -> None:
    if faults:
        raise FaultyInput(faults)


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
    req: Request, resp: Response, page: Page, name: str, rows: list[dict[str, Any]], key: Any
) -> None:
    """A page of a list; `next` and the Link lead to the page after it, if there may be one."""
    following = None
    if len(rows) == page.limit:
        params = {**req.params, "cursor": _encode(key)}
        following = f"{req.path}?{urlencode(params, doseq=True)}"
        resp.append_header("Link", f'<{following}>; rel="next"')
    answer_read(req, resp, page.at, {name: rows, "next": following})


def _as_of(req: Request, faults: list[Fault]) -> int | datetime | None:
    text = req.get_param("as_of")
    if text is None:
        return None
    if text.isascii() and text.isdigit() and len(text) < 19:
        return int(text)
    when = moment(text)
    if when is None:
        faults.append(Fault("as_of", f"{text!r} is neither a position nor an RFC 3339 time"))
    return when


def _encode(key: Any) -> str:
    return base64.urlsafe_b64encode(orjson.dumps(key)).decode()


def _cursor(req: Request, first: Any, faults: list[Fault]) -> Any:
    text = req.get_param("cursor")
    if text is None:
        return first
    try:
        key = orjson.loads(base64.urlsafe_b64decode(text))
    except (binascii.Error, ValueError):
        key = None
    if not _alike(key, first):
        faults.append(Fault("cursor", "this is no cursor that a list has given"))
        return first
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
