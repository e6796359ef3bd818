"""Counts of recent events by key."""

from __future__ import annotations

import time
from collections import OrderedDict, deque
from collections.abc import Callable
from typing import Final

from api.shared_numbers import UNSHARED, ReportedNumbers

# Unauthenticated clients choose keys, so their number is bounded: the least recently used one is dropped.
MAX_KEYS: Final = 10_000


class MovingWindow:
    """A limit of `amount` events within any `seconds` for each key; for one event loop.

    Events of other processes count, too. Each process reports its count of a key under `name` in `shared`.
    That count is valid for `seconds` after the report, so the events of another process may count for up to
    twice as long.
    """

    def __init__(
        self,
        amount: int,
        seconds: float,
        max_keys: int = MAX_KEYS,
        clock: Callable[[], float] = time.monotonic,
        shared: ReportedNumbers = UNSHARED,
        name: str = "",
    ) -> None:
        self.amount = amount
        self._seconds = seconds
        self._max_keys = max_keys
        self._clock = clock
        self._shared = shared
        self._name = name
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
        first = times[0] if times else now
        times.append(now)
        self._times[key] = times
        # Reported before the others are asked, so that no two processes take the last place.
        self._report(key)
        if len(times) + self._count_of_others(key) > self.amount:
            self.give_back(key)
            return first + self._seconds - now
        self._times.move_to_end(key)
        if len(self._times) > self._max_keys:
            self._times.popitem(last=False)
        return 0.0

    def count(self, key: str) -> int:
        since = self._clock() - self._seconds
        own = sum(1 for moment in self._times.get(key, ()) if moment > since)
        return own + self._count_of_others(key)

    def _count_of_others(self, key: str) -> int:
        """Return the number of events that other processes have counted."""
        return sum(self._shared.of_others(self._name + key, self._seconds))

    def give_back(self, key: str) -> None:
        """Remove the latest event of a key."""
        times = self._times.get(key)
        if times:
            times.pop()
        if not times:
            self.clear(key)
        self._report(key)

    def clear(self, key: str) -> None:
        self._times.pop(key, None)

    def _report(self, key: str) -> None:
        self._shared.put(self._name + key, len(self._times.get(key, ())))

    def _remove_expired(self, moment: float) -> None:
        while self._times:
            key, times = next(iter(self._times.items()))
            if times and times[-1] > moment:
                return
            del self._times[key]
