"""The last counts of the present queue by reason, which are answered again for some seconds."""

from __future__ import annotations

import time
from typing import Any, Final

MAX_AGE_SECONDS: Final = 5.0
"""The time for which counts are answered again, because counting a long queue takes about a second."""
MAX_CACHED: Final = 16
"""The maximum number of readers who know different systems and whose counts are cached."""


class RecentCounts:
    """The last counts, by the systems that they exclude. Mutable."""

    def __init__(self) -> None:
        self._counted: dict[frozenset[str], tuple[float, dict[str, Any]]] = {}

    def find(self, excluded: frozenset[str], min_position: int, end: int) -> dict[str, Any] | None:
        """Return counts as of the end of the log, or recent ones that reflect `min_position`; else None."""
        counted_at, counts = self._counted.get(excluded, (0.0, {"position": -1}))
        is_recent = time.monotonic() < counted_at + MAX_AGE_SECONDS and counts["position"] >= min_position
        return counts if is_recent or counts["position"] == end else None

    def put(self, excluded: frozenset[str], counts: dict[str, Any]) -> None:
        if len(self._counted) >= MAX_CACHED:
            self._counted.clear()
        self._counted[excluded] = time.monotonic(), counts
