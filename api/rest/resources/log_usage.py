"""/log-usage: how much each user and process has written to the log"""

from __future__ import annotations

import asyncio
from datetime import UTC

from falcon.asgi import Request, Response

from api.rest import paging
from api.rest.context import Principal, principal_of, query_of
from api.rest.contract import queries
from api.rest.contract.answers.log import LogUsage as Answered
from api.rest.contract.operation import operation
from api.rest.ports import ReadParts
from domain.directory.roles import SEES_ALL
from domain.errors import NotPermitted
from store.quota_counts import DailyLogUsage, daily_log_usage


class LogUsage:
    def __init__(self, parts: ReadParts) -> None:
        self._parts = parts

    @operation(
        "Show how much each user and process wrote to the log, or your own share",
        Answered,
        queries.LogUsageQuery,
    )
    async def on_get(self, req: Request, resp: Response) -> None:
        query, parts = query_of(req, queries.LogUsageQuery), self._parts
        actor = _visible_actor(principal_of(req), query.actor)
        since = (query.since or parts.clock()).astimezone(UTC).date()
        found = await asyncio.to_thread(daily_log_usage, parts.log, since, query.limit, actor)
        paging.answer(resp, parts.feed.position, {"shares": [_shown(one) for one in found]})


def _visible_actor(principal: Principal, wanted: str | None) -> str | None:
    """Return the actor whose share is shown, None for all. Raise NotPermitted for the share of another."""
    if principal.role in SEES_ALL:
        return wanted
    if wanted not in (None, principal.user):
        raise NotPermitted("only an admin or auditor may see the shares of others")
    return principal.user


def _shown(share: DailyLogUsage) -> dict[str, object]:
    return {"day": share.day, "actor": share.actor, "event_count": share.events, "size_bytes": share.bytes}
