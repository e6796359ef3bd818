"""What is being answered now: known, so that a server that is told to stop can wait for it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

Asgi = Callable[[Any, Any, Any], Awaitable[None]]


class InFlight:
    """An ASGI application around another.

    `dismiss` sends away those who wait for whatever may come; to be called in the loop that serves.
    """

    def __init__(self, application: Asgi, dismiss: Callable[[], None]) -> None:
        self.requests = 0
        self.dismiss = dismiss
        self._application = application

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        counts = scope["type"] != "lifespan"
        self.requests += counts
        try:
            await self._application(scope, receive, send)
        finally:
            self.requests -= counts
