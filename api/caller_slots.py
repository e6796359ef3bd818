"""One slot for each caller, so that no caller occupies more than one thread of a pool."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final
from weakref import WeakValueDictionary

from domain.errors import TooOften
from runtime.locks import LockClass

# The maximum wait of a second long query of a caller, before it is refused.
MAX_WAIT_SECONDS: Final = 5.0
RETRY_SECONDS: Final = 1


class SlotTaken(TooOften):
    """Too many requests."""


class CallerSlots:
    """One lock for each caller. Mutable; for one event loop."""

    def __init__(self, lock_class: LockClass) -> None:
        self._lock_class = lock_class
        # A lock exists only while a request of its caller holds it or waits for it.
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def hold(self, caller: str, *, is_bounded: bool = True) -> AsyncIterator[None]:
        """Hold the slot of a caller. If `is_bounded`, raises SlotTaken after MAX_WAIT_SECONDS."""
        lock = self._locks.setdefault(caller, self._lock_class.task_lock())
        try:
            async with asyncio.timeout(MAX_WAIT_SECONDS if is_bounded else None):
                await lock.acquire()
        except TimeoutError:
            raise SlotTaken(f"another long computation for {caller} is under way", RETRY_SECONDS) from None
        try:
            yield
        finally:
            lock.release()
