"""An asyncio event loop with simulated time: the clock jumps to the next due callback."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

HOUR = 3600.0
# Maximum number of steps of the loop in an hour; the busiest labs need a tenth of it.
MAX_STEPS = 200_000
BEGINNING = datetime(2026, 1, 1, tzinfo=UTC)


class Stuck(AssertionError):
    """No callback is due, and none ever will be."""


class _Jump:
    """Takes the place of a selector. There are no files, so waiting moves the clock."""

    def __init__(self, loop: SimulatedLoop) -> None:
        self._loop = loop

    def select(self, timeout: float | None) -> list[Any]:
        self._loop.count_step()
        if timeout is None:
            raise Stuck("nothing is due, and no strand can wake another")
        if timeout > 0:
            self._loop.seconds = max(self._loop.seconds, self._loop.next_due())
        return []

    def close(self) -> None:
        """Do nothing: no file is open."""


class SimulatedLoop(asyncio.BaseEventLoop):
    """The event loop.

    `in_strand` runs in a strand what asyncio would run in a thread, and returns a future.
    """

    def __init__(self) -> None:
        super().__init__()
        self.seconds = 0.0
        self.in_strand: Callable[[Callable[[], Any]], asyncio.Future[Any]] | None = None
        # Called when the loop takes far more steps in an hour than a service needs.
        self.on_endless_loop: Callable[[], None] = lambda: None
        self._steps, self._hour = 0, 0.0
        self._selector = _Jump(self)
        # Tasks of a killed process are never awaited; that is not an error.
        self.set_exception_handler(lambda loop, context: None)

    def time(self) -> float:
        return self.seconds

    def now(self) -> datetime:
        return BEGINNING + timedelta(seconds=self.seconds)

    def count_step(self) -> None:
        self._steps += 1
        if self.seconds >= self._hour + HOUR:
            self._steps, self._hour = 0, self.seconds
        elif self._steps == MAX_STEPS:
            self.on_endless_loop()

    def next_due(self) -> float:
        handle: asyncio.TimerHandle = self._scheduled[0]  # type: ignore[attr-defined]
        return handle.when()

    def run_in_executor(self, executor: Any, func: Callable[..., Any], *args: Any) -> Any:
        assert self.in_strand is not None
        return self.in_strand(lambda: func(*args))

    def _process_events(self, event_list: list[Any]) -> None:
        """Do nothing: there are no file events."""

    def _write_to_self(self) -> None:
        """Do nothing: the loop never sleeps."""
