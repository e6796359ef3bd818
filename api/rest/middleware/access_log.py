"""The access log and the counters of requests. Neither has the content of requests."""

from __future__ import annotations

import logging
import time
from typing import Any, Final

from falcon.asgi import Request, Response

from api.metrics.requests import RequestCounters
from api.rest.context import Principal, route_of
from api.rest.inside import principal_inside

# A logger of its own, so that it can be disabled.
LOGGER = "labledger.access"

METHODS: Final = ("DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT")
# The label value of unknown methods and paths: a label must have a bounded number of values.
OTHER: Final = "other"

logger = logging.getLogger(LOGGER)


class AccessLog:
    """The outermost Falcon middleware: logs and counts each request, a stream at its begin."""

    def __init__(self, counters: RequestCounters) -> None:
        self._counters = counters

    async def process_request(self, req: Request, resp: Response) -> None:
        req.context.began_seconds = time.perf_counter()

    async def process_response(
        self, req: Request, resp: Response, resource: object, req_succeeded: bool
    ) -> None:
        if principal_inside(req.scope) is not None:
            return
        seconds, route = time.perf_counter() - req.context.began_seconds, route_of(req)
        method = req.method if req.method in METHODS else OTHER
        self._counters.count(method, route or OTHER, resp.status_code, seconds)
        # Not 503, which another process or a limit causes.
        level = logging.ERROR if resp.status_code == 500 else logging.INFO
        if logger.isEnabledFor(level):
            logger.log(level, "request", extra=_fields(req, resp, route, seconds))


def _fields(req: Request, resp: Response, route: str | None, seconds: float) -> dict[str, Any]:
    principal: Principal | None = getattr(req.context, "principal", None)
    return {
        "method": req.method,
        "path": route,
        "status": resp.status_code,
        "seconds": round(seconds, 6),
        "request_id": getattr(req.context, "request_id", None),
        "user": principal.user if principal else None,
    }
