"""Jobs, recipe sets and recipes are known by number: how to look at one of them, and to cancel it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from falcon.asgi import Request, Response

from api.rest import reading
from api.rest.body import parse_model, read_json_bytes
from api.rest.contract.inputs.jobs import Cancel
from api.rest.idempotency import once
from api.services import Request as Requested
from api.services import Services
from api.store.requests import Committed
from domain.errors import Unknown
from domain.names import called

# kind -> the query for one, and what its number is called there.
_QUERIES = {
    "job": ("job", "job_id"),
    "recipe-set": ("recipe_set", "recipe_set_id"),
    "recipe": ("recipes", "recipe_id"),
}
_NUMBERS = dict.fromkeys(key for _, key in _QUERIES.values())


class Found(NamedTuple):
    """`asked` is what other queries are asked for what belongs to it."""

    at: reading.At
    row: dict[str, Any]
    asked: dict[str, Any]


async def find(req: Request, resp: Response, services: Services, kind: str, number: int) -> Found:
    """As of when the request asks; the answer gets its version as ETag. Raises Unknown."""
    query, key = _QUERIES[kind]
    at = await reading.read_at(req, services)
    asked = {"at": at.position, **_NUMBERS, key: number}
    row = await services.reader.row(query, asked)
    if row is None:
        raise Unknown(called(kind, number))
    version = await services.reader.row("version", {"subject": f"{kind}/{number}", "at": at.position})
    assert version is not None, f"{kind}/{number} has a row, so it has events"
    resp.etag = str(version["version"])
    return Found(at, row, asked)


async def cancel(
    req: Request,
    resp: Response,
    services: Services,
    key: str,
    number: int,
    write: Callable[[Services, Requested, int, str], Awaitable[Committed | None]],
) -> None:
    """`key` is what the number is called in the answer."""
    body = await read_json_bytes(req)
    asked: Cancel = parse_model(req, body)
    done = await once(services, req, body, lambda request: write(services, request, number, asked.reason))
    await reading.answer_write(resp, services, done, {key: number, "cancelled": done is not None})
