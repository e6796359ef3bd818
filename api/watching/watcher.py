"""One who watches: what was missed first, then what comes, each event once and in order."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import AsyncGenerator, Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from api.watching.message import Message
from postgres.errors import DatabaseAway
from store.selection import Selection

if TYPE_CHECKING:
    from api.watching.broadcast import Broadcast

# Proxies close a line that is silent for longer, and the dead show when they are written to.
PING_SECONDS = 15.0
# Longer may no piece take until the network has taken it.
WRITE_SECONDS = 10.0
PIECE_BYTES = 32 << 10
RETRY_SECONDS = 2.0

logger = logging.getLogger(__name__)


class Line(Protocol):
    """The connection of a watcher."""

    def abort(self) -> None:
        """End it at once, and give up what it has not taken."""


class Watcher:
    """An asynchronous iterator of the bytes to write; whoever iterates asks for the next when it has written.

    What comes is only noted here, by reference, until then: it never makes anybody wait.
    """

    def __init__(
        self,
        broadcast: Broadcast,
        selection: Selection,
        after: int,
        line: Line,
        still_allowed: Callable[[], bool],
        who: str,
    ) -> None:
        self.who = who
        self.selection = selection
        self.position = after
        self.line = line
        self._broadcast = broadcast
        self._still_allowed = still_allowed
        self._chunks = self._told()
        self._loop = asyncio.get_running_loop()
        self._task: asyncio.Task[Any] | None = None
        self._backlog: deque[Sequence[Message]] = deque()
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

    def push(self, messages: Sequence[Message]) -> None:
        """It is woken later."""
        self._backlog.append(messages)

    def wake(self) -> None:
        if self._news is not None and not self._news.done():
            self._news.set_result(None)

    def end(self) -> None:
        """No more comes; what is being written is written."""
        self._is_ended = True
        self.wake()

    def dismiss(self) -> None:
        """The same, but what is being written is not waited for."""
        self.end()
        if self._writing_since is not None:
            self._break_off()

    def look(self, now: float) -> None:
        """From time to time: whether it may go on, takes what it is sent, and was told something lately."""
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
        """Whether what it is to read next would be forgotten but for itself."""
        if not self._is_live or not self._backlog:
            return False
        return self._backlog[0][self._taken].position <= self._broadcast.recent.complete_after

    def _cut(self, why: str) -> None:
        logger.info("a watcher %s: cut behind position %d", why, self.position)
        self._broadcast.counters.cut += 1
        self._break_off()

    def _break_off(self) -> None:
        self._broadcast.leave(self)
        self._backlog.clear()
        self.line.abort()
        if self._task is not None:
            self._task.cancel()

    async def _told(self) -> AsyncGenerator[bytes, None]:
        # The first bytes take the head of the answer along, which would wait for them.
        yield b"retry: %d\n: everything after position %d\n\n" % (RETRY_SECONDS * 1000, self.position)
        async for piece in self._missed():
            yield piece
        # Nothing was awaited since it had everything: nothing comes twice, and nothing between.
        self._is_live = True
        self._broadcast.join(self)
        while not self._is_ended:
            if self._backlog:
                # What its watcher may see can have changed since it was noted.
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
        """The next part of the backlog that is written at once."""
        texts, size = [], 0
        while self._backlog and size < PIECE_BYTES:
            page = self._backlog[0]
            message = page[self._taken]
            self._taken += 1
            if self._taken == len(page):
                self._backlog.popleft()
                self._taken = 0
            # Who resumes from a position that is still to come waits for it.
            if message.position > self.position:
                texts.append(message.text)
                size += len(texts[-1])
                self.position = message.position
        self._broadcast.counters.sent += len(texts)
        return b"".join(texts)

    def _ping(self) -> bytes:
        """Keeps the line; and its reader, whoever selects little, resumes behind all that it did not want."""
        self._is_ping_due = False
        self.position = max(self.position, self._broadcast.position)
        return b": ping\nid: %d\n\n" % self.position

    async def _something(self) -> None:
        self._news = self._loop.create_future()
        try:
            await self._news
        finally:
            self._news = None
