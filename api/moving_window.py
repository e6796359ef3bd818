"""How often something has happened lately, by whom it concerns, in this process."""

from __future__ import annotations

import time
from collections import OrderedDict, deque
from collections.abc import Callable
from typing import Final

# Names and addresses come from strangers: of more than that, those heard of longest ago are forgotten.
MOST_KEPT: Final = 10_000


class MovingWindow:
    """`amount` times within any `seconds` for each; for one event loop.

    It keeps what counts still, and no more than `most` keys, whoever invents them.
    """

    def __init__(
        self,
        amount: int,
        seconds: float,
        most: int = MOST_KEPT,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.amount = amount
        self._seconds = seconds
        self._most = most
        self._clock = clock
        # Whose latest time is the oldest comes first.
        self._times: OrderedDict[str, deque[float]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._times)

    def take(self, key: str) -> float:
        """Count it and give 0; or, when that would be once too often, the seconds until it would not be."""
        now = self._clock()
        self._forget_until(now - self._seconds)
        times = self._times.get(key, deque())
        while times and times[0] <= now - self._seconds:
            times.popleft()
        if len(times) >= self.amount:
            return times[0] + self._seconds - now
        times.append(now)
        self._times[key] = times
        self._times.move_to_end(key)
        if len(self._times) > self._most:
            self._times.popitem(last=False)
        return 0.0

    def count(self, key: str) -> int:
        """Return how many of its times count now."""
        since = self._clock() - self._seconds
        return sum(1 for moment in self._times.get(key, ()) if moment > since)

    def give_back(self, key: str) -> None:
        """The latest time does not count."""
        times = self._times.get(key)
        if times:
            times.pop()
        if not times:
            self.clear(key)

    def clear(self, key: str) -> None:
        """None of them counts."""
        self._times.pop(key, None)

    def _forget_until(self, moment: float) -> None:
        while self._times:
            key, times = next(iter(self._times.items()))
            if times and times[-1] > moment:
                return
            del self._times[key]
