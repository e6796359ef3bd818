"""Operations on jobs, recipe sets and recipes by number: read and cancel."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import NamedTuple

from falcon.asgi import Request, Response

from api.rest import paging, partitions
from api.rest.body import parse_model, read_json_bytes
from api.rest.context import keyed_request
from api.rest.contract.inputs.jobs import Cancel
from api.rest.ports import ChangeParts, ReadParts
from api.use_cases.idempotency import commit_once
from api.use_cases.ports import RequestContext, WriteParts
from domain.errors import Unknown, display_name
from domain.roll_up import BAD_RESULTS, RESULT_ORDER
from projections.read_sessions import Row
from projections.reader import At
from store.requests import Committed

# Kind -> its query, and the parameter of the query for the number.
_QUERIES = {
    "job": ("job", "job_id"),
    "recipe-set": ("recipe_set", "recipe_set_id"),
    "recipe": ("recipe", "recipe_id"),
}
_NUMBERS = dict.fromkeys(key for _, key in _QUERIES.values())


class FoundRow(NamedTuple):
    """A row with its version; `others` has the rows of each further query.

    The row has the name of its partition.
    """

    version: int
    row: Row
    others: list[list[Row]]


async def find(parts: ReadParts, at: At, kind: str, number: int, *further_queries: str) -> FoundRow:
    """Return the row as of a position, with the rows of further queries. Raises Unknown."""
    query, key = _QUERIES[kind]
    params = {
        "at": at.position,
        "moment": at.moment,
        "subject": f"{kind}/{number}",
        "result_order": list(RESULT_ORDER),
        "bad_results": sorted(BAD_RESULTS),
        **_NUMBERS,
        key: number,
    }
    queries = ((name, params) for name in (query, "version", *further_queries))
    rows, versions, *others = await parts.reader.together(*queries)
    if not rows:
        raise Unknown(display_name(kind, number))
    partition = rows[0]["partition"]
    names = await partitions.names_at(parts, at, [partition])
    row = {**rows[0], "partition": names[partition]}
    return FoundRow(versions[0]["version"], row, others)


def deletion_of(rows: list[Row]) -> Row | None:
    """Return the deletion of results from the rows of the query `deletion`, None without one."""
    return rows[0]["deleted"] if rows else None


async def cancel(
    req: Request,
    resp: Response,
    parts: ChangeParts,
    key: str,
    number: int,
    write: Callable[[WriteParts, RequestContext, int, str], Awaitable[Committed | None]],
) -> None:
    """Cancel a job or a recipe set; `key` is the field of its number in the answer."""
    body = await read_json_bytes(req)
    cancellation: Cancel = await parse_model(req, body)
    request = keyed_request(req, body)
    done = await commit_once(parts.log, request, lambda: write(parts, request, number, cancellation.reason))
    await paging.answer_write(resp, parts.log, done, {key: number, "cancelled": done is not None})
