"""What is kept of each request: who asked for what, and what came of it; never what was in it."""

from __future__ import annotations

import logging
import time
from typing import Any, Final

from falcon.asgi import Request, Response

from api.metrics.requests import RequestCounters
from api.rest.context import route_of
from api.rest.middleware.principal import Principal

# A name of its own, so that it can be left out by itself.
LOGGER = "labledger.access"

METHODS: Final = ("DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT")
# What clients make up is no value of a label: there would be no end to them.
OTHER: Final = "other"

logger = logging.getLogger(LOGGER)


class Answered:
    """Falcon middleware: a record in the log, and one more in the counters.

    The first that a request meets and the last that its answer passes: it times all others, and hears of what
    they refuse. The answer is written after that, so a stream is told of when it begins.
    """

    def __init__(self, counters: RequestCounters) -> None:
        self._counters = counters

    async def process_request(self, req: Request, resp: Response) -> None:
        req.context.began_seconds = time.perf_counter()

    async def process_response(
        self, req: Request, resp: Response, resource: object, req_succeeded: bool
    ) -> None:
        seconds, route = time.perf_counter() - req.context.began_seconds, route_of(req)
        method = req.method if req.method in METHODS else OTHER
        self._counters.answered(method, route or OTHER, resp.status_code, seconds)
        # What is not ready yet, or away, is no fault of ours.
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
