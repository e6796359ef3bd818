"""/reads: the reads of auditors."""

from __future__ import annotations

import asyncio
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import partial

from falcon.asgi import Request, Response

from api.rest import paging
from api.rest.context import query_of
from api.rest.contract import queries
from api.rest.contract.answers.log import ReadList
from api.rest.contract.operation import operation
from api.rest.ports import FeedParts
from store.reads import StoredRead, select


@dataclass(frozen=True)
class ReadsFound:
    """`following`: the `after` of the next page, or its `before` if the newest read comes first."""

    reads: list[dict[str, object]]
    following: int | None


async def read_list(parts: FeedParts, query: queries.ReadsQuery, until: datetime | None = None) -> ReadsFound:
    """Return a page of the reads, up to a time."""
    ask = partial(
        select,
        parts.log,
        query.after,
        query.limit,
        query.user,
        before=query.before,
        until=until,
        newest_first=query.newest_first,
    )
    found = await asyncio.to_thread(ask)
    following = found[-1].read_id if len(found) == query.limit else None
    return ReadsFound([_shown(one) for one in found], following)


class Reads:
    def __init__(self, parts: FeedParts) -> None:
        self._parts = parts

    @operation("List the reads of auditors", ReadList, queries.ReadsQuery)
    async def on_get(self, req: Request, resp: Response) -> None:
        found = await read_list(self._parts, query_of(req, queries.ReadsQuery))
        body = {"reads": found.reads, "next": found.following}
        paging.answer(resp, self._parts.feed.position, body)


def _shown(recorded: StoredRead) -> dict[str, object]:
    return {"read_id": recorded.read_id, "recorded_at": recorded.recorded_at, **asdict(recorded.read)}
