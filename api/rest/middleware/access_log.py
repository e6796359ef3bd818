"""A record for each request that is answered: who asked for what, what came of it; never what was in it."""

from __future__ import annotations

import logging
import time
from typing import Any

from falcon.asgi import Request, Response

from api.rest.contract.openapi import plain
from api.rest.middleware.principal import Principal

# A name of its own, so that it can be left out by itself.
LOGGER = "labledger.access"

logger = logging.getLogger(LOGGER)


class AccessLog:
    """Falcon middleware; before the others, so that it times them, and hears of what they refuse.

    A stream is told of when it begins.
    """

    async def process_request(self, req: Request, resp: Response) -> None:
        req.context.access_began = time.perf_counter()

    async def process_response(
        self, req: Request, resp: Response, resource: object, req_succeeded: bool
    ) -> None:
        level = logging.ERROR if resp.status_code >= 500 else logging.INFO
        if logger.isEnabledFor(level):
            logger.log(level, "request", extra=_fields(req, resp))


def _fields(req: Request, resp: Response) -> dict[str, Any]:
    principal: Principal | None = getattr(req.context, "principal", None)
    return {
        "method": req.method,
        "path": _declared_path(req),
        "status": resp.status_code,
        "seconds": round(time.perf_counter() - req.context.access_began, 6),
        "request_id": getattr(req.context, "request_id", None),
        "user": principal.user if principal else None,
    }


def _declared_path(req: Request) -> str | None:
    """`/jobs/{job_id}`, so that requests can be counted by it; None where there is nothing."""
    return None if req.uri_template is None else plain(str(req.uri_template))
