"""A log position that only ascends, and that others wait for."""

from __future__ import annotations

import asyncio
import time


class Advancing:
    """For one event loop. Waiting takes no lock, so a waiter may be cancelled at any time."""

    def __init__(self) -> None:
        self.position = 0
        self.closed = False
        self._moved = asyncio.Event()

    def advance(self, position: int) -> None:
        self.position = max(self.position, position)
        self._wake()

    def close(self) -> None:
        """Nothing will come any more: nobody waits."""
        self.closed = True
        self._wake()

    def _wake(self) -> None:
        moved, self._moved = self._moved, asyncio.Event()
        moved.set()

    async def reach(self, position: int, timeout_seconds: float) -> bool:
        """Wait until the position is reached; False when the time is up before, or nothing will come."""
        deadline = time.monotonic() + timeout_seconds
        while self.position < position and not self.closed:
            try:
                await asyncio.wait_for(self._moved.wait(), max(0.0, deadline - time.monotonic()))
            except TimeoutError:
                break
        return self.position >= position
