"""Percentiles of durations."""

from __future__ import annotations

from collections.abc import Sequence


def percentile(sorted_values: Sequence[float], percent: float) -> float:
    """Return the smallest value that this percentage of the values does not exceed."""
    index = max(0, -(-len(sorted_values) * percent // 100) - 1)
    return sorted_values[int(index)]


def in_milliseconds(seconds: Sequence[float]) -> dict[str, float]:
    """Return p50, p99 and the maximum of the durations. There must be at least one."""
    ordered = sorted(seconds)
    return {
        "p50_ms": round(1000 * percentile(ordered, 50), 3),
        "p99_ms": round(1000 * percentile(ordered, 99), 3),
        "max_ms": round(1000 * ordered[-1], 3),
    }
