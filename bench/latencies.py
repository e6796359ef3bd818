"""Many durations as the few numbers that are asked of them."""

from __future__ import annotations

from collections.abc import Sequence


def percentile(sorted_values: Sequence[float], percent: float) -> float:
    """The smallest value that so many percent do not exceed."""
    place = max(0, -(-len(sorted_values) * percent // 100) - 1)
    return sorted_values[int(place)]


def in_milliseconds(seconds: Sequence[float]) -> dict[str, float]:
    """p50, p99 and the largest of durations, of which there is one at least."""
    ordered = sorted(seconds)
    return {
        "p50_ms": round(1000 * percentile(ordered, 50), 3),
        "p99_ms": round(1000 * percentile(ordered, 99), 3),
        "max_ms": round(1000 * ordered[-1], 3),
    }
