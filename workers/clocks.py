"""The comparison of the scheduler's clock, the database's clock and the monotonic clock.

A deadline counts from the database's clock and expires by the scheduler's. While the two disagree, or soon
after one of them was set, the right time is unknown.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

MAX_DIFFERENCE_SECONDS: Final = 30
SETTLING_SECONDS: Final = 600

DIFFER: Final = "differ"
MOVED: Final = "moved"
DOUBTS: Final = (DIFFER, MOVED)


@dataclass(frozen=True)
class Reading:
    """The time on each clock at one moment."""

    scheduler: datetime
    database: datetime
    monotonic_seconds: float

    def difference_seconds(self) -> float:
        return abs((self.scheduler - self.database).total_seconds())

    def moved_seconds(self, before: Reading) -> float:
        """Return by how much a clock moved against the monotonic clock, the one that moved most."""
        passed = self.monotonic_seconds - before.monotonic_seconds
        shown = (self.scheduler - before.scheduler, self.database - before.database)
        return max(abs(each.total_seconds() - passed) for each in shown)


class Clocks:
    """Mutable: give it a reading at each turn."""

    def __init__(self) -> None:
        self._settled: Reading | None = None
        self._moved_at: float | None = None

    def doubt(self, reading: Reading) -> str | None:
        """Return why the clocks cannot be trusted now, or None."""
        if self._settled is None:
            self._settled = reading
        elif reading.moved_seconds(self._settled) > MAX_DIFFERENCE_SECONDS:
            self._settled, self._moved_at = reading, reading.monotonic_seconds
        if reading.difference_seconds() > MAX_DIFFERENCE_SECONDS:
            return DIFFER
        return MOVED if self._is_settling(reading.monotonic_seconds) else None

    def _is_settling(self, monotonic_seconds: float) -> bool:
        return self._moved_at is not None and monotonic_seconds < self._moved_at + SETTLING_SECONDS
