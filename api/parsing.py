"""Threads that parse long request bodies, one at a time for each caller."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

from api.caller_slots import CallerSlots

# A shorter body takes at most a millisecond or two, so it is parsed in the event loop.
MIN_LONG_BYTES: Final = 16_384
# Few threads, because they share one interpreter with the event loop.
MAX_THREADS: Final = 2

T = TypeVar("T")


class Parsing:
    """Run parsers of long bodies in threads; for one event loop."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(MAX_THREADS, "parsing")
        self._slots = CallerSlots()

    async def run(self, caller: str, size: int, parse: Callable[[], T]) -> T:
        """Return the result of `parse`, which is run in a thread if the body has MIN_LONG_BYTES or more."""
        if size < MIN_LONG_BYTES:
            return parse()
        # `Share.hold` limits the bytes of waiting bodies, so the wait needs no limit.
        async with self._slots.hold(caller, is_bounded=False):
            return await asyncio.get_running_loop().run_in_executor(self._threads, parse)
