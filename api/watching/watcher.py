"""A watcher: it gets missed events first, then new ones, each once and in order."""

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

# Proxies close a connection that is silent for longer, and a write detects a dead client.
PING_SECONDS = 15.0
# The maximum time to send one piece.
WRITE_SECONDS = 10.0
PIECE_BYTES = 32 << 10
RETRY_SECONDS = 2.0

logger = logging.getLogger(__name__)


class WatcherConnection(Protocol):
    """The connection of a watcher."""

    def abort(self) -> None:
        """Close the connection at once, and discard unsent data."""


class Watcher:
    """An asynchronous iterator of the bytes to write; the caller asks for the next after it has written.

    New events are only stored by reference until then, so they never wait for a watcher.
    """

    def __init__(
        self,
        broadcast: Broadcast,
        selection: Selection,
        after: int,
        line: WatcherConnection,
        still_allowed: Callable[[], bool],
        who: str,
    ) -> None:
        self.who = who
        self.selection = selection
        self.position = after
        self.line = line
        self._broadcast = broadcast
        self._still_allowed = still_allowed
        self._chunks = self._stream()
        self._loop = asyncio.get_running_loop()
        self._task: asyncio.Task[Any] | None = None
        self._backlog: deque[Sequence[EventMessage]] = deque()
        self._taken = 0
        self._is_live = False
        self._is_ended = False
        self._is_ping_due = False
        self._news: asyncio.Future[None] | None = None
        self._writing_since: float | None = None
        self._quiet_since = self._loop.time()

    def __aiter__(self) -> Watcher:
        return self

    async def __anext__(self) -> bytes:
        self._writing_since = None
        if self._task is None:
            self._task = asyncio.current_task()
            self._broadcast.enter(self)
        chunk = await anext(self._chunks)
        self._writing_since = self._quiet_since = self._loop.time()
        return chunk

    async def close(self) -> None:
        self._broadcast.leave(self)
        await self._chunks.aclose()

    def push(self, messages: Sequence[EventMessage]) -> None:
        """Store new events; the watcher is woken later."""
        self._backlog.append(messages)

    def wake(self) -> None:
        if self._news is not None and not self._news.done():
            self._news.set_result(None)

    def end(self) -> None:
        """End the stream after the current piece."""
        self._is_ended = True
        self.wake()

    def dismiss(self) -> None:
        """End the stream without waiting for the current piece."""
        self.end()
        if self._writing_since is not None:
            self._break_off()

    def look(self, now: float) -> None:
        """Check regularly whether the watcher is allowed, reads in time, and needs a ping."""
        if not self._still_allowed():
            self.end()
        if self._writing_since is not None:
            if now - self._writing_since > WRITE_SECONDS:
                self._cut(f"did not read for {WRITE_SECONDS:g} s")
            elif self._is_lost():
                self._cut("is too far behind")
        elif self._is_live and not self._backlog and now - self._quiet_since >= PING_SECONDS:
            self._is_ping_due = True
            self.wake()

    def _is_lost(self) -> bool:
        """Return whether the watcher is so far behind that only its own backlog has its next event."""
        if not self._is_live or not self._backlog:
            return False
        return self._backlog[0][self._taken].position <= self._broadcast.recent.complete_after

    def _cut(self, why: str) -> None:
        logger.info("a watcher %s: disconnected after position %d", why, self.position)
        self._broadcast.counters.cut += 1
        self._break_off()

    def _break_off(self) -> None:
        self._broadcast.leave(self)
        self._backlog.clear()
        self.line.abort()
        if self._task is not None:
            self._task.cancel()

    async def _stream(self) -> AsyncGenerator[bytes, None]:
        # The head of the answer is sent with the first bytes.
        yield b"retry: %d\n: everything after position %d\n\n" % (RETRY_SECONDS * 1000, self.position)
        async for piece in self._missed():
            yield piece
        # No await since it caught up, so no event is sent twice or lost.
        self._is_live = True
        self._broadcast.join(self)
        while not self._is_ended:
            if self._backlog:
                # The visibility may have changed since the event was stored.
                if not self._still_allowed():
                    return
                yield self._piece()
            elif self._is_ping_due:
                yield self._ping()
            else:
                await self._something()

    async def _missed(self) -> AsyncGenerator[bytes, None]:
        while self.position < self._broadcast.position and not self._is_ended:
            try:
                found, through = await self._broadcast.missed(self.position, self.selection)
            except DatabaseAway:
                await asyncio.sleep(RETRY_SECONDS)
                yield b": the database is away\n\n"
                continue
            self._backlog.extend((found,) if found else ())
            while self._backlog:
                if not self._still_allowed():
                    self.end()
                    return
                yield self._piece()
            self.position = through

    def _piece(self) -> bytes:
        """Return the next piece of the backlog."""
        texts, size = [], 0
        while self._backlog and size < PIECE_BYTES:
            page = self._backlog[0]
            message = page[self._taken]
            self._taken += 1
            if self._taken == len(page):
                self._backlog.popleft()
                self._taken = 0
            # The position may be in the future; wait for it.
            if message.position > self.position:
                texts.append(message.text)
                size += len(texts[-1])
                self.position = message.position
        self._broadcast.counters.sent += len(texts)
        return b"".join(texts)

    def _ping(self) -> bytes:
        """Return a ping with the position, so that a client that selects few events resumes from there."""
        self._is_ping_due = False
        self.position = max(self.position, self._broadcast.position)
        return b": ping\nid: %d\n\n" % self.position

    async def _something(self) -> None:
        self._news = self._loop.create_future()
        try:
            await self._news
        finally:
            self._news = None
