"""The state of a serving process for metrics that take longer than a scrape may."""

from __future__ import annotations

import time
from collections import Counter
from typing import Final

WITHIN_P90, LATER, NO_ESTIMATE = "within-p90", "later", "no-estimate"
OUTCOMES: Final = (WITHIN_P90, LATER, NO_ESTIMATE)
"""How an estimate turned out, by the start of its recipe."""

SCRAPED_SECONDS: Final = 300.0
"""The time after a scrape for which a process computes these metrics."""


class SlowMetrics:
    """The judged estimates of this process, by outcome, and its last scrape. Mutable."""

    def __init__(self) -> None:
        self.outcomes = Counter[str]()
        self._scraped_until = 0.0

    def note_scrape(self) -> None:
        self._scraped_until = time.monotonic() + SCRAPED_SECONDS

    @property
    def is_wanted(self) -> bool:
        """Return whether the metrics of this process were scraped lately."""
        return time.monotonic() < self._scraped_until
