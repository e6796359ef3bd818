"""A value that is fetched from the identity provider, and kept for a while."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Final, Generic, TypeVar

T = TypeVar("T")

MAX_AGE_SECONDS: Final = 3600.0
# Tokens with invented key ids must not make the service fetch keys as often as they come.
MIN_REFETCH_SECONDS: Final = 10.0


class FetchedValue(Generic[T]):
    """Concurrent callers share one fetch, whose error each of them gets. An error is not kept."""

    def __init__(
        self, fetch: Callable[[], Awaitable[T]], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._fetch = fetch
        self._clock = clock
        self._value: T | None = None
        self._fetched_at = 0.0
        self._task: asyncio.Task[T] | None = None

    async def get(self) -> T:
        """Return the value, fetched within MAX_AGE_SECONDS."""
        if self._value is not None and self._clock() < self._fetched_at + MAX_AGE_SECONDS:
            return self._value
        return await self._fetched()

    async def get_newer(self) -> T | None:
        """Return the value fetched again; None if it was fetched within MIN_REFETCH_SECONDS."""
        if self._clock() < self._fetched_at + MIN_REFETCH_SECONDS:
            return None
        return await self._fetched()

    async def _fetched(self) -> T:
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._fetch_and_store())
        # A cancelled request must not cancel the fetch of others.
        return await asyncio.shield(self._task)

    async def _fetch_and_store(self) -> T:
        self._value = await self._fetch()
        self._fetched_at = self._clock()
        return self._value
