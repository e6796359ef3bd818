"""The pace at which the items in messages of each lab controller are taken, in this process."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Final

from domain.errors import TooOften

# A lab controller that was silent may send the items of this time at once.
BURST_SECONDS: Final = 2.0
# Less than the timeouts of clients. A message that would have to wait longer is refused.
MAX_WAIT_SECONDS: Final = 5.0


class ItemPace:
    """Turns of messages: `per_second` items of each caller, 0 for no limit. Mutable; for one event loop."""

    def __init__(self, per_second: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_second = per_second
        self._clock = clock
        # When all admitted items of a caller will have been taken. Callers are users and lab controllers, so
        # there are few.
        self._taken_at: dict[str, float] = {}

    def delay(self, caller: str, items: int) -> float:
        """Admit a message and return the seconds until its turn. Raises TooOften above MAX_WAIT_SECONDS."""
        if not self._per_second:
            return 0.0
        now = self._clock()
        turn = max(self._taken_at.get(caller, 0.0), now - BURST_SECONDS)
        if (excess := turn - now - MAX_WAIT_SECONDS) > 0:
            raise TooOften(
                f"{caller} may report {self._per_second:,} items a second, and more items are waiting", excess
            )
        self._taken_at[caller] = turn + items / self._per_second
        return max(0.0, turn - now)

    async def wait_turn(self, caller: str, items: int) -> None:
        """Wait until the items of a message may be taken. Raises TooOften as `delay` does."""
        await asyncio.sleep(self.delay(caller, items))
