"""One place for each caller, so that no caller takes more than one thread of a pool."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final
from weakref import WeakValueDictionary

from domain.errors import TooOften

# A second long query of a caller waits this long, and is then refused.
MAX_WAIT_SECONDS: Final = 5.0
RETRY_SECONDS: Final = 1


class CallerSlots:
    """The places of all callers. Mutable; for one event loop."""

    def __init__(self) -> None:
        # A place exists as long as a request of its caller holds it or waits for it.
        self._places: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def of(self, caller: str, *, is_bounded: bool = True) -> AsyncIterator[None]:
        """Hold the place of a caller. Raises TooOften after a bounded wait for it."""
        place = self._places.setdefault(caller, asyncio.Lock())
        try:
            async with asyncio.timeout(MAX_WAIT_SECONDS if is_bounded else None):
                await place.acquire()
        except TimeoutError:
            raise TooOften(f"another long computation for {caller} is under way", RETRY_SECONDS) from None
        try:
            yield
        finally:
            place.release()
