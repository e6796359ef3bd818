"""Delay of reading the body until the request is admitted."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

Receive = Callable[[], Awaitable[dict[str, Any]]]


def read_on_demand(receive: Receive) -> Receive:
    """Return a `receive` with an empty first message, because Falcon reads one before it routes a request.

    So a request that is too large, or not permitted, is refused before its body is read, and `100 Continue`
    is sent only when the body is read.
    """
    is_first = True

    async def receive_on_demand() -> dict[str, Any]:
        nonlocal is_first
        if not is_first:
            return await receive()
        is_first = False
        return {"type": "http.request", "body": b"", "more_body": True}

    return receive_on_demand
