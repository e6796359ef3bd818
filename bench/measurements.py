"""Durations computed from the log."""

from __future__ import annotations

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
