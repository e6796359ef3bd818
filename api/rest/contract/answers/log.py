"""Answers from the log of events, and from that of what auditors read."""

from __future__ import annotations

from datetime import date
from typing import Any

from api.rest.contract.answers.common import Answer, Shape
from api.rest.contract.values import Time


class Batch(Shape):
    """The triggers behind position `after` up to `upto`, which the scheduler answers together. `left` is the
    first kind of them that the commit leaves unanswered.
    """

    after: int
    upto: int
    left: str | None


class LoggedEvent(Shape):
    """One event; the fields from `now` on are those of decisions. `version` is that of its subject."""

    position: int
    topic: str
    version: int
    subject: str
    at: Time
    recorded_at: Time
    actor: str
    cause: str
    basis: int | None
    commit_end: int
    data: dict[str, Any]
    now: Time | None = None
    epoch: int | None = None
    policy_version: int | None = None
    number: int | None = None
    batch: Batch | None = None


class EventPage(Answer):
    """`next`: the position to go on after."""

    events: list[LoggedEvent]
    next: int | None


class RecordedRead(Shape):
    read_id: int
    recorded_at: Time
    user: str
    role: str
    token_id: str
    method: str
    path: str
    query: str
    request_id: str
    is_stream: bool
    last_event_id: str | None


class ReadList(Answer):
    """`next`: the read to go on after."""

    reads: list[RecordedRead]
    next: int | None


class WrittenShare(Shape):
    """The events and bytes that a user or a process has written on one day (UTC)."""

    day: date
    actor: str
    event_count: int
    size_bytes: int


class LogUsage(Answer):
    shares: list[WrittenShare]
