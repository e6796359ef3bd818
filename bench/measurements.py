"""What the log itself says of the time things took."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from postgres.named_sql import named_queries
from store.event_log import EventLog

SQL = named_queries(Path(__file__).with_name("measured.sql"))


@dataclass(frozen=True)
class Span:
    """Events of one kind, the subjects they happened to, and how long it took."""

    events: int
    subjects: int
    seconds: float

    @property
    def per_second(self) -> float:
        return self.events / self.seconds if self.seconds else 0.0


def seconds_to_next(log: EventLog, after: int) -> list[float]:
    """From the commit in which a system became pending to that in which it was scheduled again."""
    return [seconds for (seconds,) in log.rows(SQL["seconds_to_next"], (after,))]


def span_of(log: EventLog, topic: str, after: int) -> Span:
    """Events of a topic, from the first event after a position, whatever it is, to the last of them."""
    ((events, subjects, seconds),) = log.rows(SQL["span"], {"topic": topic, "after": after})
    return Span(events, subjects, seconds)
