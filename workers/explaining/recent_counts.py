"""The last counts of the present queue by reason, which are answered again for some time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Final

MAX_AGE_SECONDS: Final = 5.0
"""The maximum time for which counts are reused."""
MAX_AGE_FACTOR: Final = 10
"""Counts are reused for this multiple of the time that counting took. A long queue takes about a second."""
MAX_CACHED: Final = 16
"""The maximum number of readers who know different systems and whose counts are cached."""


class RecentCounts:
    """The last counts, by the systems that they exclude. Mutable."""

    def __init__(self) -> None:
        self._counted: dict[frozenset[str], tuple[float, dict[str, Any]]] = {}

    def find_or_count(
        self, excluded: frozenset[str], min_position: int, end: int, count: Callable[[], dict[str, Any]]
    ) -> dict[str, Any]:
        """Return counts as of the end of the log, or recent ones that reflect `min_position`."""
        recent_until, counts = self._counted.get(excluded, (0.0, {"position": -1}))
        began = time.monotonic()
        if counts["position"] == end or (began < recent_until and counts["position"] >= min_position):
            return counts
        counts = count()
        ended = time.monotonic()
        if len(self._counted) >= MAX_CACHED:
            self._counted.clear()
        self._counted[excluded] = ended + min(MAX_AGE_SECONDS, MAX_AGE_FACTOR * (ended - began)), counts
        return counts
