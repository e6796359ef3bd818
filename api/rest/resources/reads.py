"""/reads: the reads of auditors."""

from __future__ import annotations

import asyncio
from dataclasses import asdict

from falcon.asgi import Request, Response

from api.rest import paging
from api.rest.context import query_of
from api.rest.contract import queries
from api.rest.contract.answers.log import ReadList
from api.rest.contract.operation import operation
from api.rest.ports import ReadParts
from store.reads import StoredRead, select


class Reads:
    def __init__(self, parts: ReadParts) -> None:
        self._parts = parts

    @operation("List the reads of auditors", ReadList, queries.ReadsQuery)
    async def on_get(self, req: Request, resp: Response) -> None:
        query = query_of(req, queries.ReadsQuery)
        log = self._parts.log
        found = await asyncio.to_thread(select, log, query.after, query.limit, query.user)
        following = found[-1].read_id if len(found) == query.limit else None
        body = {"reads": [_shown(one) for one in found], "next": following}
        paging.answer(resp, self._parts.feed.position, body)


def _shown(recorded: StoredRead) -> dict[str, object]:
    return {"read_id": recorded.read_id, "recorded_at": recorded.recorded_at, **asdict(recorded.read)}
