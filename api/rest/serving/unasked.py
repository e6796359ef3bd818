"""Nobody has to send a body before it is known whether it is wanted."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

Receive = Callable[[], Awaitable[dict[str, Any]]]


def from_when_asked(receive: Receive) -> Receive:
    """Falcon takes the first part of a body before it looks at what is asked. This gives it an empty one.

    So who announces too much, or may not do this, is refused before the first byte; and who expects
    `100 Continue` gets it when the body is really read.
    """
    is_first = True

    async def received() -> dict[str, Any]:
        nonlocal is_first
        if not is_first:
            return await receive()
        is_first = False
        return {"type": "http.request", "body": b"", "more_body": True}

    return received
