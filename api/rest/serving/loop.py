"""asyncio's event loop, as a server needs it that anybody may connect to."""

from __future__ import annotations

import asyncio
import errno
import logging
from collections.abc import Callable
from typing import Any

from api.rest.serving.connections import Connections
from api.rest.serving.seldom import Seldom

ACCEPTED_AT_ONCE = 16
MOST_WAITING = 512
_NOTHING_LEFT = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)

ExceptionHandler = Callable[[asyncio.AbstractEventLoop, dict[str, Any]], None]

logger = logging.getLogger(__name__)


class ServingLoop(asyncio.SelectorEventLoop):
    """gunicorn's worker asks it for a server; that speaks `protocol`, as the worker itself cannot be told."""

    protocol: Callable[[], asyncio.BaseProtocol]

    async def create_server(self, protocol_factory: Any, *args: Any, **named: Any) -> Any:
        """As many are accepted at once as may wait, for asyncio: few, so that no wave of them takes all files
        before the first is counted. Those that wait are the kernel's.
        """
        server = await super().create_server(self.protocol, *args, backlog=ACCEPTED_AT_ONCE, **named)
        named["sock"].listen(MOST_WAITING)
        return server


def when_nothing_is_left(connections: Connections) -> ExceptionHandler:
    """asyncio tells of each connection that it could not accept, with a trace, and a hundred at a time."""
    seldom = Seldom(logger)

    def handle(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if isinstance(error, OSError) and error.errno in _NOTHING_LEFT and "socket" in context:
            connections.make_room()
            seldom.warn(f"a connection could not be accepted: {error.strerror}")
        else:
            loop.default_exception_handler(context)

    return handle
