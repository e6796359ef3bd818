"""Every request is counted with its answer, and every watcher while it watches."""

from __future__ import annotations

import re
import time
from collections.abc import AsyncIterator
from typing import Any, Final

from falcon.asgi import Request, Response, SSEvent

from api.services import Services

METHODS: Final = ("DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT")
# What clients make up is no value of a label: there would be no end to them.
OTHER: Final = "other"


class RequestCounts:
    """Falcon middleware. It stands first, so that it counts what the others refuse, too."""

    def __init__(self, services: Services) -> None:
        self._counters = services.requests

    async def process_request(self, req: Request, resp: Response) -> None:
        req.context.began_seconds = time.perf_counter()

    async def process_response(
        self, req: Request, resp: Response, resource: Any, req_succeeded: bool
    ) -> None:
        seconds = time.perf_counter() - req.context.began_seconds
        method = req.method if req.method in METHODS else OTHER
        self._counters.answered(method, _route(req), resp.status_code, seconds)
        if resp.sse is not None:
            resp.sse = self._watched(resp.sse)

    async def _watched(self, events: AsyncIterator[SSEvent | None]) -> AsyncIterator[SSEvent | None]:
        self._counters.watchers += 1
        try:
            async for event in events:
                yield event
        finally:
            self._counters.watchers -= 1


def _route(req: Request) -> str:
    """A path as people know it: `/jobs/{job_id}`, whatever is checked of the number."""
    if req.uri_template is None:
        return OTHER
    return re.sub(r":[^}]*(?=\})", "", str(req.uri_template))
