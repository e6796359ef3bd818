"""Every request is counted with its answer."""

from __future__ import annotations

import time
from typing import Any, Final

from falcon.asgi import Request, Response

from api.rest.contract.openapi import plain
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


def _route(req: Request) -> str:
    return OTHER if req.uri_template is None else plain(str(req.uri_template))
