"""The comparison of the scheduler's clock, the database's clock and the monotonic clock.

A deadline is computed from the database's clock and expires by the scheduler's. While the clocks disagree,
and for `SETTLING_SECONDS` after one of them jumped, no deadline can be trusted.
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

    def jump_seconds(self, before: Reading) -> float:
        """Return the larger jump of the two clocks since `before`, measured by the monotonic clock."""
        passed = self.monotonic_seconds - before.monotonic_seconds
        elapsed = (self.scheduler - before.scheduler, self.database - before.database)
        return max(abs(duration.total_seconds() - passed) for duration in elapsed)


class Clocks:
    """The check of the clocks. Mutable: call `doubt` at each full run of the consistency loop."""

    def __init__(self) -> None:
        self._baseline: Reading | None = None
        self._moved_at: float | None = None

    def doubt(self, reading: Reading) -> str | None:
        """Return DIFFER or MOVED if the clocks cannot be trusted now, or None."""
        if self._baseline is None:
            self._baseline = reading
        elif reading.jump_seconds(self._baseline) > MAX_DIFFERENCE_SECONDS:
            self._baseline, self._moved_at = reading, reading.monotonic_seconds
        if reading.difference_seconds() > MAX_DIFFERENCE_SECONDS:
            return DIFFER
        return MOVED if self._is_settling(reading.monotonic_seconds) else None

    def _is_settling(self, monotonic_seconds: float) -> bool:
        return self._moved_at is not None and monotonic_seconds < self._moved_at + SETTLING_SECONDS
