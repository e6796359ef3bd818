"""The open connections of a worker, with a maximum number and eviction.

Clients are not authenticated when they connect. At the maximum, a new connection evicts the one with
the longest wait for its client, which is none with a request in progress, a stream or a long poll.
"""

from __future__ import annotations

import logging
import socket
import struct
import time
from asyncio import AbstractEventLoop, TimerHandle
from collections import Counter
from collections.abc import Callable
from typing import Any, Protocol

from api.watching.capacity import max_connections

CHECK_SECONDS = 1.0
# Connections that are sending their last answer. The oldest of more is aborted.
MAX_CLOSING = 64
# The time between two logs of the same message.
EVERY_SECONDS = 60.0
_RESET = struct.pack("ii", 1, 0)

logger = logging.getLogger(__name__)


class OpenConnection(Protocol):
    def abort(self) -> None:
        """Close the connection at once, and remove it."""

    def check(self, now: float) -> None:
        """Check regularly whether the client takes too long."""


class Connections:
    """The connections of one event loop."""

    def __init__(self, loop: AbstractEventLoop, max_count: Callable[[], int] = max_connections) -> None:
        self._loop = loop
        self._max_count = max_count
        self._open: dict[OpenConnection, None] = {}
        # Connections that wait for their client, the longest wait first.
        self._waiting: dict[OpenConnection, None] = {}
        self._closing: dict[OpenConnection, None] = {}
        self._timer: TimerHandle | None = None
        self._throttled = ThrottledLog(logger)

    def enter(self, connection: OpenConnection) -> bool:
        """Add a connection; return False if it must be refused, because none can be evicted for it."""
        self._open[connection] = None
        if self._timer is None:
            self._timer = self._loop.call_later(CHECK_SECONDS, self._check)
        if len(self._open) - len(self._closing) <= self._max_count() or self.evict_longest_waiting():
            self._waiting[connection] = None
            return True
        self._throttled.warn("all connections are in use; further clients get 503")
        return False

    def leave(self, connection: OpenConnection) -> None:
        for connections in (self._open, self._waiting, self._closing):
            connections.pop(connection, None)

    def wait_for_client(self, connection: OpenConnection) -> None:
        """Record that the connection now waits for its client, and may be evicted."""
        self._waiting.pop(connection, None)
        if connection in self._open and connection not in self._closing:
            self._waiting[connection] = None

    def wait_for_server(self, connection: OpenConnection) -> None:
        """Record that the client now waits for the server."""
        self._waiting.pop(connection, None)

    def begin_close(self, connection: OpenConnection) -> None:
        """Record that the connection is sending its last answer."""
        self._waiting.pop(connection, None)
        if connection in self._open:
            self._closing[connection] = None
        if len(self._closing) > MAX_CLOSING:
            next(iter(self._closing)).abort()

    def evict_longest_waiting(self) -> bool:
        """Close the connection with the longest wait for its client; return False if none waits."""
        longest = next(iter(self._waiting), None)
        if longest is None:
            return False
        self._throttled.warn("too many connections: the ones that are idle for the longest time are closed")
        longest.abort()
        return True

    def _check(self) -> None:
        self._timer = self._loop.call_later(CHECK_SECONDS, self._check) if self._open else None
        now = self._loop.time()
        for connection in list(self._open):
            connection.check(now)


def reset(transport: Any) -> None:
    """Reset the connection and discard unsent data, also that in the kernel."""
    sock = transport.get_extra_info("socket")
    if sock is not None:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
    transport.abort()


class ThrottledLog:
    """Logs each message at most once a minute, with the number of its occurrences since."""

    def __init__(self, logger: logging.Logger) -> None:
        self._logger = logger
        self._counts = Counter[str]()
        self._logged_at: dict[str, float] = {}

    def warn(self, message: str) -> None:
        """Log a warning. All messages are kept, so there must be few different ones."""
        self._counts[message] += 1
        now = time.monotonic()
        if now - self._logged_at.get(message, -EVERY_SECONDS) >= EVERY_SECONDS:
            self._logged_at[message] = now
            self._logger.warning(message, extra={"times": self._counts.pop(message)})
