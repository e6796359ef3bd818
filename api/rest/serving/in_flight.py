"""The requests in progress, for which a stopping server waits."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

Asgi = Callable[[Any, Any, Any], Awaitable[None]]


class InFlight:
    """Counts the requests of an application. `begin_shutdown`, in its loop, ends streams and long polls."""

    def __init__(self, application: Asgi, begin_shutdown: Callable[[], None]) -> None:
        self.requests = 0
        self.begin_shutdown = begin_shutdown
        self._application = application

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        is_request = scope["type"] != "lifespan"
        self.requests += is_request
        try:
            await self._application(scope, receive, send)
        finally:
            self.requests -= is_request
