"""The stream of a watcher: missed events first, then new ones, each once and in order."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import AsyncGenerator, Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from api.watching.message import EventMessage
from postgres.errors import DatabaseAway
from store.selection import Selection

if TYPE_CHECKING:
    from api.watching.broadcast import Broadcast

# Proxies close connections that are silent for longer. A ping also detects a dead client.
PING_SECONDS = 15.0
# The maximum time in which a client must read one piece.
WRITE_SECONDS = 10.0
PIECE_BYTES = 32 << 10
RETRY_SECONDS = 2.0

logger = logging.getLogger(__name__)


class WatcherConnection(Protocol):
    def abort(self) -> None:
        """Close the connection at once, and discard unsent data."""


class Watcher:
    """An asynchronous iterator of the bytes to write; the caller takes the next when these are written.

    Until then new events are stored by reference in a backlog, so the feed never waits for a watcher.
    """

    def __init__(
        self,
        broadcast: Broadcast,
        selection: Selection,
        after: int,
        connection: WatcherConnection,
        is_allowed: Callable[[], bool],
        user: str,
    ) -> None:
        self.user = user
        self.selection = selection
        self.position = after
        self._broadcast = broadcast
        self._connection = connection
        self._is_allowed = is_allowed
        self._chunks = self._stream()
        self._loop = asyncio.get_running_loop()
        self._task: asyncio.Task[Any] | None = None
        self._backlog: deque[Sequence[EventMessage]] = deque()
        self._next_index = 0
        self._is_live = False
        self._is_ended = False
        self._is_ping_due = False
        self._wakeup: asyncio.Future[None] | None = None
        self._write_started: float | None = None
        self._last_write = self._loop.time()

    def __aiter__(self) -> Watcher:
        return self

    async def __anext__(self) -> bytes:
        self._write_started = None
        if self._task is None:
            self._task = asyncio.current_task()
            self._broadcast.enter(self)
        chunk = await anext(self._chunks)
        self._write_started = self._last_write = self._loop.time()
        return chunk

    async def close(self) -> None:
        self._broadcast.leave(self)
        await self._chunks.aclose()

    def push(self, messages: Sequence[EventMessage]) -> None:
        """Store new events. The caller calls `wake` later."""
        self._backlog.append(messages)

    def wake(self) -> None:
        if self._wakeup is not None and not self._wakeup.done():
            self._wakeup.set_result(None)

    def end(self) -> None:
        """End the stream after the current piece."""
        self._is_ended = True
        self.wake()

    def end_now(self) -> None:
        """End the stream without waiting for the current piece."""
        self.end()
        if self._write_started is not None:
            self._abort()

    def check(self, now: float) -> None:
        """End the stream if not allowed, disconnect a slow client, or request a ping. Called every second."""
        if not self._is_allowed():
            self.end()
        if self._write_started is not None:
            if now - self._write_started > WRITE_SECONDS:
                self._disconnect(f"did not read for {WRITE_SECONDS:g} s")
            elif self._is_too_late():
                self._disconnect("is too far behind")
        elif self._is_live and not self._backlog and now - self._last_write >= PING_SECONDS:
            self._is_ping_due = True
            self.wake()

    def _is_too_late(self) -> bool:
        """Return whether the next event for the watcher is no longer among the recent ones."""
        if not self._is_live or not self._backlog:
            return False
        return self._backlog[0][self._next_index].position <= self._broadcast.recent.complete_after

    def _disconnect(self, reason: str) -> None:
        logger.info("a watcher %s: disconnected after position %d", reason, self.position)
        self._broadcast.counters.cut += 1
        self._abort()

    def _abort(self) -> None:
        self._broadcast.leave(self)
        self._backlog.clear()
        self._connection.abort()
        if self._task is not None:
            self._task.cancel()

    async def _stream(self) -> AsyncGenerator[bytes, None]:
        # The server sends the head of the response together with the first bytes.
        yield b"retry: %d\n: everything after position %d\n\n" % (RETRY_SECONDS * 1000, self.position)
        async for piece in self._missed_pieces():
            yield piece
        # There is no await between catching up and joining, so no event is sent twice or lost.
        self._is_live = True
        self._broadcast.join(self)
        while not self._is_ended:
            if self._backlog:
                # The visibility may have changed since the event was stored.
                if not self._is_allowed():
                    return
                yield self._piece()
            elif self._is_ping_due:
                yield self._ping()
            else:
                await self._wait()

    async def _missed_pieces(self) -> AsyncGenerator[bytes, None]:
        while self.position < self._broadcast.position and not self._is_ended:
            try:
                messages, through = await self._broadcast.missed(self.position, self.selection)
            except DatabaseAway:
                await asyncio.sleep(RETRY_SECONDS)
                yield b": the database is away\n\n"
                continue
            self._backlog.extend((messages,) if messages else ())
            while self._backlog:
                if not self._is_allowed():
                    self.end()
                    return
                yield self._piece()
            self.position = through

    def _piece(self) -> bytes:
        texts, size = [], 0
        while self._backlog and size < PIECE_BYTES:
            page = self._backlog[0]
            message = page[self._next_index]
            self._next_index += 1
            if self._next_index == len(page):
                self._backlog.popleft()
                self._next_index = 0
            # A client may start from a future position: skip events until then.
            if message.position > self.position:
                texts.append(message.text)
                size += len(texts[-1])
                self.position = message.position
        self._broadcast.counters.sent += len(texts)
        return b"".join(texts)

    def _ping(self) -> bytes:
        """Return a ping with the position, from which a client that selects few events can resume."""
        self._is_ping_due = False
        self.position = max(self.position, self._broadcast.position)
        return b": ping\nid: %d\n\n" % self.position

    async def _wait(self) -> None:
        self._wakeup = self._loop.create_future()
        try:
            await self._wakeup
        finally:
            self._wakeup = None
