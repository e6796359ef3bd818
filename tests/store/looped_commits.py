"""Group commit with an event loop in a thread, for tests that submit from threads."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future, wait

from store.event_log import EventLog
from store.group_commit import GroupCommit
from store.requests import AppendRequest, Outcome


class LoopedCommits(GroupCommit):
    def __init__(self, log: EventLog, timeout_seconds: float = 5.0) -> None:
        super().__init__(log, timeout_seconds)
        self._loop = asyncio.new_event_loop()
        self._looping = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._looping.start()
        self._futures: list[Future[Outcome]] = []

    def enqueue(self, request: AppendRequest) -> Future[Outcome]:
        """Submit a request; return a future of its outcome when the request is in the queue."""
        future = asyncio.run_coroutine_threadsafe(self.submit(request), self._loop)
        self._futures.append(future)
        self.settle()
        return future

    def settle(self) -> None:
        """Wait until the loop has run all that was scheduled."""
        asyncio.run_coroutine_threadsafe(asyncio.sleep(0), self._loop).result(20)

    def close(self) -> None:
        super().close()
        if self._looping.is_alive():
            wait(self._futures, 20)
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._looping.join()
            self._loop.close()
