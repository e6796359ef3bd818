"""The open connections of a worker, with a maximum number and eviction.

Clients are not authenticated when they connect. If all places are taken, the connection that has waited for
its client for the longest time is closed for the next one. Requests in progress, streams and long polls keep
their place.
"""

from __future__ import annotations

import logging
from asyncio import AbstractEventLoop, TimerHandle
from collections.abc import Callable
from typing import Protocol

from api.rest.serving.throttled_logging import ThrottledLog
from api.watching.capacity import max_connections

CHECK_SECONDS = 1.0
# Connections whose last answer is being sent.
MAX_CLOSING = 64

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
        # Ordered by the time since when the client is awaited, oldest first.
        self._awaited: dict[OpenConnection, None] = {}
        self._closing: dict[OpenConnection, None] = {}
        self._timer: TimerHandle | None = None
        self._throttled = ThrottledLog(logger)

    def enter(self, one: OpenConnection) -> bool:
        """Add a connection; return False if there is no place for it."""
        self._open[one] = None
        if self._timer is None:
            self._timer = self._loop.call_later(CHECK_SECONDS, self._check)
        if len(self._open) - len(self._closing) <= self._max_count() or self.make_room():
            self._awaited[one] = None
            return True
        self._throttled.warn("all connections are in use; further clients get 503")
        return False

    def leave(self, one: OpenConnection) -> None:
        for those in (self._open, self._awaited, self._closing):
            those.pop(one, None)

    def awaits(self, one: OpenConnection) -> None:
        """Note that the server waits for the client from now on."""
        self._awaited.pop(one, None)
        if one in self._open and one not in self._closing:
            self._awaited[one] = None

    def answers(self, one: OpenConnection) -> None:
        """Note that the client waits for the server from now on."""
        self._awaited.pop(one, None)

    def closes(self, one: OpenConnection) -> None:
        """Note that the last answer of the connection was sent."""
        self._awaited.pop(one, None)
        if one in self._open:
            self._closing[one] = None
        if len(self._closing) > MAX_CLOSING:
            next(iter(self._closing)).abort()

    def make_room(self) -> bool:
        """Close the connection that was awaited for the longest time; return False if there is none."""
        eldest = next(iter(self._awaited), None)
        if eldest is None:
            return False
        self._throttled.warn("too many connections: the ones that are idle for the longest time are closed")
        eldest.abort()
        return True

    def _check(self) -> None:
        self._timer = self._loop.call_later(CHECK_SECONDS, self._check) if self._open else None
        now = self._loop.time()
        for one in list(self._open):
            one.check(now)
