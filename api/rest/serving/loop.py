"""The asyncio event loop of a public server."""

from __future__ import annotations

import asyncio
import errno
import logging
from collections.abc import Callable
from typing import Any

from api.rest.serving.connections import Connections, ThrottledLog

MAX_ACCEPTED_PER_STEP = 16
MAX_BACKLOG = 512
_OUT_OF_RESOURCES = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)

ExceptionHandler = Callable[[asyncio.AbstractEventLoop, dict[str, Any]], None]

logger = logging.getLogger(__name__)


class ServingLoop(asyncio.SelectorEventLoop):
    """An event loop whose servers use `protocol`; gunicorn's worker has no setting for a protocol."""

    protocol: Callable[[], asyncio.BaseProtocol]

    async def create_server(self, protocol_factory: Any, *args: Any, **named: Any) -> Any:
        """Create a server that accepts few connections per step, as asyncio would accept a whole backlog."""
        server = await super().create_server(self.protocol, *args, backlog=MAX_ACCEPTED_PER_STEP, **named)
        named["sock"].listen(MAX_BACKLOG)
        return server


def throttled_accept_errors(connections: Connections) -> ExceptionHandler:
    """Return an exception handler that throttles the log of failures to accept connections."""
    throttled = ThrottledLog(logger)

    def handle(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if isinstance(error, OSError) and error.errno in _OUT_OF_RESOURCES and "socket" in context:
            connections.evict_longest_waiting()
            throttled.warn(f"a connection could not be accepted: {error.strerror}")
        else:
            loop.default_exception_handler(context)

    return handle
