"""The pace at which the items in messages of each lab controller are taken."""

from __future__ import annotations

import asyncio
import math
import time
from collections import Counter
from collections.abc import Callable
from typing import Final

from api.shared_numbers import UNSHARED, ReportedNumbers
from domain.errors import TooOften

# A lab controller that was silent may send the items of this time at once, and one more message.
BURST_SECONDS: Final = 2.0
# Less than the timeouts of clients, and short enough for the end of the process.
MAX_WAIT_SECONDS: Final = 2.0
# Waiting messages occupy memory, and the slots of concurrent requests.
MAX_WAITING: Final = 16
MICROSECONDS: Final = 1_000_000


class ItemPace:
    """Limit the items of each caller to `per_second`; 0 means no limit. Mutable; for one event loop.

    The processes report the next turn of each caller to each other in `shared`.
    """

    def __init__(
        self, per_second: int, clock: Callable[[], float] = time.monotonic, shared: ReportedNumbers = UNSHARED
    ) -> None:
        self._per_second = per_second or math.inf
        self._clock = clock
        self._shared = shared
        # The time of the next turn of each caller. There are few callers: users and lab controllers.
        self._next_turn: dict[str, float] = {}
        self._waiting = Counter[str]()

    def require_room(self, caller: str) -> None:
        """Raise TooOften if a message would wait longer than MAX_WAIT_SECONDS, or MAX_WAITING ones wait."""
        excess = self._delay(caller) - MAX_WAIT_SECONDS
        if excess > 0 or self._waiting[caller] >= MAX_WAITING:
            raise TooOften(
                f"{caller} may report {self._per_second:,} items a second, and more items are waiting", excess
            )

    def admit(self, caller: str, items: int) -> float:
        """Count the items of a message, and return the seconds until its turn. Raises TooOften."""
        self.require_room(caller)
        delay = self._delay(caller)
        turn = self._next_turn[caller] = self._clock() + delay + items / self._per_second
        self._shared.put(f"items/{caller}", int(turn * MICROSECONDS))
        return max(0.0, delay)

    async def wait_turn(self, caller: str, items: int) -> None:
        """Wait until the items of a message may be taken. Raises TooOften as `require_room` does."""
        delay = self.admit(caller, items)
        if not delay:
            return
        self._waiting[caller] += 1
        try:
            await asyncio.sleep(delay)
        finally:
            self._waiting[caller] -= 1

    def _delay(self, caller: str) -> float:
        """Return the seconds until the next turn, negative after a silence: at least -BURST_SECONDS."""
        of_others = self._shared.of_others(f"items/{caller}")
        turn = max(self._next_turn.get(caller, 0.0), *(each / MICROSECONDS for each in of_others), 0.0)
        return max(turn - self._clock(), -BURST_SECONDS)
