"""A log position that only ascends, and tasks that wait for it."""

from __future__ import annotations

import asyncio
import time


class AscendingPosition:
    """A position for one event loop. A waiting task may be cancelled at any time."""

    def __init__(self) -> None:
        self.position = 0
        self.closed = False
        self._changed = asyncio.Event()

    def advance(self, position: int) -> None:
        self.position = max(self.position, position)
        self._wake()

    def close(self) -> None:
        """End all waits, now and later."""
        self.closed = True
        self._wake()

    def _wake(self) -> None:
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    async def reach(self, position: int, timeout_seconds: float) -> bool:
        """Wait until the position is reached; return False after the timeout or `close`."""
        deadline = time.monotonic() + timeout_seconds
        while self.position < position and not self.closed:
            try:
                await asyncio.wait_for(self._changed.wait(), max(0.0, deadline - time.monotonic()))
            except TimeoutError:
                break
        return self.position >= position
