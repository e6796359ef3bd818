"""Counts of recent events by key, in this process."""

from __future__ import annotations

import time
from collections import OrderedDict, deque
from collections.abc import Callable
from typing import Final

# Unauthenticated clients choose keys, so their number is bounded: the least recently used one is dropped.
MAX_KEYS: Final = 10_000


class MovingWindow:
    """A limit of `amount` events within any `seconds` for each key; for one event loop."""

    def __init__(
        self,
        amount: int,
        seconds: float,
        max_keys: int = MAX_KEYS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.amount = amount
        self._seconds = seconds
        self._max_keys = max_keys
        self._clock = clock
        # Ordered by the latest time of each key, oldest first.
        self._times: OrderedDict[str, deque[float]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._times)

    def take(self, key: str) -> float:
        """Count an event and return 0, or return the seconds to wait if the limit is reached."""
        now = self._clock()
        self._remove_expired(now - self._seconds)
        times = self._times.get(key, deque())
        while times and times[0] <= now - self._seconds:
            times.popleft()
        if len(times) >= self.amount:
            return times[0] + self._seconds - now
        times.append(now)
        self._times[key] = times
        self._times.move_to_end(key)
        if len(self._times) > self._max_keys:
            self._times.popitem(last=False)
        return 0.0

    def count(self, key: str) -> int:
        since = self._clock() - self._seconds
        return sum(1 for moment in self._times.get(key, ()) if moment > since)

    def give_back(self, key: str) -> None:
        """Remove the latest event of a key."""
        times = self._times.get(key)
        if times:
            times.pop()
        if not times:
            self.clear(key)

    def clear(self, key: str) -> None:
        self._times.pop(key, None)

    def _remove_expired(self, moment: float) -> None:
        while self._times:
            key, times = next(iter(self._times.items()))
            if times and times[-1] > moment:
                return
            del self._times[key]
