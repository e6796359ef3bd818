"""Threads that parse request bodies, one at a time for each caller."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

from api.caller_slots import CallerSlots

# A longer body takes more than a millisecond or two to parse.
MIN_LONG_BYTES: Final = 16_384
# Few, because they share one interpreter with the event loop.
MAX_THREADS: Final = 2

T = TypeVar("T")


class Parsing:
    """Parse long bodies in threads; for one event loop. Bodies of one caller are parsed one at a time."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(MAX_THREADS, "parsing")
        self._places = CallerSlots()

    async def run(self, caller: str, size: int, parse: Callable[[], T]) -> T:
        """Return what `parse` returns for a body of this size. A short body needs no thread."""
        if size < MIN_LONG_BYTES:
            return parse()
        # The bytes of waiting bodies are bounded elsewhere.
        async with self._places.of(caller, is_bounded=False):
            return await asyncio.get_running_loop().run_in_executor(self._threads, parse)
