"""Durations computed from the log, and percentiles of durations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from postgres.named_sql import named_queries
from store.event_log import EventLog

SQL = named_queries(Path(__file__).with_name("measurements.sql"))


@dataclass(frozen=True)
class EventSpan:
    """The number of events of a topic, the number of their subjects, and the duration."""

    events: int
    subjects: int
    seconds: float

    @property
    def per_second(self) -> float:
        return self.events / self.seconds if self.seconds else 0.0


def seconds_to_next(log: EventLog, after: int) -> list[float]:
    """Return, for each system that became pending, the time between that commit and its next allocation."""
    return [seconds for (seconds,) in log.rows(SQL["seconds_to_next"], (after,))]


def span_of(log: EventLog, topic: str, after: int) -> EventSpan:
    """Return the span of the events of a topic, from the first event of any topic after a position."""
    ((events, subjects, seconds),) = log.rows(SQL["span"], {"topic": topic, "after": after})
    return EventSpan(events, subjects, seconds)


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
