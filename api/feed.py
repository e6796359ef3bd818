"""Follower of the log in an API process: applies new events to the directory and sends them to watchers.

One thread tails the log, and the event loop applies the events. A long query of the directory runs in another
thread; while it runs, no events are applied to the directory.
"""

from __future__ import annotations

import asyncio
import logging
import math
import os
import signal
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from functools import partial
from typing import TypeVar

from api.caller_slots import CallerSlots
from api.watching.broadcast import Broadcast
from api.watching.message import EventMessage
from domain.directory.state import Directory
from domain.directory.visibility import VisibilityIndex
from domain.distro_choice.distro_trees import DistroTrees
from domain.errors import LabledgerError
from domain.events import Recorded
from projections.advancing import AscendingPosition
from runtime.locks import LockClass
from runtime.processes.garbage_collection import gc_paused
from store.event_log import FOLDED_TOPICS, EventLog
from store.mapper import StoredRow
from store.tailer import Tailer, TailerCounters, has_many_commits

# New systems are added to `distro_trees` in steps of this size, each of a millisecond or two.
SYSTEMS_PER_STEP = 20
# A page costs the event loop the same time whatever its size, so after one with many commits the feed waits
# this long for more events, unless a request waits for the next page.
MIN_PAGE_SECONDS_UNDER_LOAD = 0.03

T = TypeVar("T")

logger = logging.getLogger(__name__)


class NotReady(LabledgerError):
    """The service has not read the whole log yet."""


class Feed:
    """The directory and the watchers of one process. Call `open` in the event loop that uses them."""

    def __init__(self, log: EventLog, url: str) -> None:
        self.directory = Directory()
        self.distro_trees = DistroTrees(self.directory)
        self.visibility = VisibilityIndex(self.directory)
        self.broadcast = Broadcast(log, self.directory.partition_names)
        self.tailer: Tailer | None = None
        # When set, long polls end at once.
        self.is_closing = False
        self._log = log
        self._url = url
        self._progress = AscendingPosition()
        self._stop = threading.Event()
        # Set when a request waits for the next page.
        self._page_requested = threading.Event()
        self._thread: threading.Thread | None = None
        self._folding = LockClass.DIRECTORY.task_lock()
        # Long queries queue for `_running_query`, one of each caller, and only the first of the queue takes
        # `_folding`: a page of the log waits for one query, not for all of them.
        self._slots = CallerSlots(LockClass.CALLER_QUERY)
        self._running_query = LockClass.RUNNING_QUERY.task_lock()
        # A single thread, because a computing thread takes the interpreter from the event loop.
        self._query_thread = ThreadPoolExecutor(1, "long-queries")

    async def open(self) -> None:
        """Build the directory from the present log, then follow the log. Raises the store's errors."""
        end = await asyncio.to_thread(self._log.end)
        with gc_paused():
            for recorded in await asyncio.to_thread(lambda: list(self._log.directory(end))):
                self._fold(recorded)
            await asyncio.to_thread(self.distro_trees.catch_up)
        self.broadcast.begin(end)
        self._progress.advance(end)
        self.tailer = Tailer(self._url, after=end)
        loop = asyncio.get_running_loop()
        self._thread = threading.Thread(
            target=self._follow, args=(loop, self.tailer), name="feed", daemon=True
        )
        self._thread.start()

    def begin_shutdown(self) -> None:
        """End streams and long polls, before `close`. The feed still follows the log."""
        self.is_closing = True
        self.broadcast.close()

    async def close(self) -> None:
        self.begin_shutdown()
        self._stop.set()
        self._page_requested.set()
        self._progress.close()
        if self._thread is not None:
            await asyncio.to_thread(self._thread.join)

    @property
    def position(self) -> int:
        """Return the position up to which the log has been applied."""
        return self._progress.position

    @property
    def read_seconds_ago(self) -> float:
        """Return the seconds since the log was last read, infinite before `open`."""
        return math.inf if self.tailer is None else time.monotonic() - self.tailer.read_at

    def tailer_counters(self) -> TailerCounters | None:
        """Return the counters of the tailer, None before `open`."""
        return None if self.tailer is None else self.tailer.counters

    def is_current(self, seconds: float) -> bool:
        """Return whether the log was read within this many seconds."""
        return self.read_seconds_ago <= seconds

    async def reach(self, position: int, timeout_seconds: float = 5.0) -> None:
        """Wait until the directory reflects a position. Raises NotReady after the timeout."""
        if position > self.position:
            self._page_requested.set()
        if not await self._progress.reach(position, timeout_seconds):
            raise NotReady(
                f"this process has read the log up to position {self.position}; the request needs {position}"
            )

    async def catch_up(self) -> None:
        """Wait until the directory reflects the present end of the log."""
        await self.reach(await asyncio.to_thread(self._log.end))

    async def run_long_query(self, caller: str, query: Callable[[], T]) -> T:
        """Run a query of the directory in a thread, and apply no event meanwhile. Raises TooOften."""
        # The thread of a cancelled request continues, so the cancellation must not release the locks.
        return await asyncio.shield(asyncio.ensure_future(self._run_query(caller, query)))

    async def _run_query(self, caller: str, query: Callable[[], T]) -> T:
        async with self._slots.hold(caller), self._running_query, self._folding:
            return await asyncio.get_running_loop().run_in_executor(self._query_thread, query)

    def _follow(self, loop: asyncio.AbstractEventLoop, tailer: Tailer) -> None:
        try:
            for page in tailer:
                if self._stop.is_set():
                    tailer.close()
                elif page:
                    asyncio.run_coroutine_threadsafe(self._apply_page(*self._read(page)), loop).result()
                    if not tailer.has_unread and has_many_commits(page):
                        self._page_requested.wait(MIN_PAGE_SECONDS_UNDER_LOAD)
                        self._page_requested.clear()
        except Exception:
            if not self._stop.is_set():
                # A process that cannot read the log must not serve requests from an outdated directory.
                logger.exception("feed: stopped at position %d; this process ends", self.position)
                os.kill(os.getpid(), signal.SIGTERM)

    def _read(self, page: Sequence[StoredRow]) -> tuple[list[Recorded], list[EventMessage], list[int]]:
        """Return the events of a page for the directory, messages of all its events, and their sizes."""
        mapper, names = self._log.mapper, self.directory.partition_names
        messages = []
        for row in page:
            mapper.require_readable(row)
            read = partial(mapper.recorded, row)
            messages.append(EventMessage(row.position, row.topic, row.subject, row.partition, read, names))
        folded = [mapper.recorded(row) for row in page if row.topic in FOLDED_TOPICS]
        return folded, messages, [len(row.state) for row in page]

    async def _apply_page(
        self, folded: Sequence[Recorded], messages: Sequence[EventMessage], sizes: Sequence[int]
    ) -> None:
        # A page without changes to the directory need not wait for a long query.
        async with self._folding if folded else nullcontext():
            for recorded in folded:
                self._fold(recorded)
            # Now, so that the next job need not do it; in steps, so that other requests can run in between.
            while not self.distro_trees.catch_up(SYSTEMS_PER_STEP):
                await asyncio.sleep(0)
        self.broadcast.take(messages, sizes)
        self._progress.advance(messages[-1].position)

    def _fold(self, recorded: Recorded) -> None:
        self.directory.apply(recorded)
        self.distro_trees.apply(recorded)
        self.visibility.apply(recorded)
