"""Answers from the event log, and from the record of auditors' reads."""

from __future__ import annotations

from datetime import date
from typing import Any

from api.rest.contract.answers.common import Answer, AnswerPart, ReadAnswer
from api.rest.contract.values import Time


class Batch(AnswerPart):
    """The triggers after position `after` up to `upto`, which the scheduler answers together.

    `left`: the first kind of trigger that this commit leaves unanswered, null if there is none.
    """

    after: int
    upto: int
    left: str | None


class LoggedEvent(AnswerPart):
    """An event. `version`: that of its subject. `partition`: null if it concerns all partitions.

    `token_id`: the id of the token of the request that caused the event; of a login, that of its new token.
    Null without a request, and for events from before version 0.2. `address`: that of the client of the
    request, for admins and auditors only, and not in streams; null unless the service keeps it.
    The fields from `now` on are only for decisions.
    """

    position: int
    topic: str
    version: int
    subject: str
    at: Time
    recorded_at: Time
    actor: str
    cause: str
    token_id: str | None
    basis: int | None
    commit_end: int
    partition: str | None
    data: dict[str, Any]
    now: Time | None = None
    epoch: int | None = None
    policy_version: int | None = None
    number: int | None = None
    batch: Batch | None = None
    address: str | None = None


class EventPage(Answer):
    """`next`: the `after` of the next page, null on the last one; its `before` if the newest come first."""

    events: list[LoggedEvent]
    next: int | None


class EventShown(ReadAnswer):
    """An event, and the positions of the events of its subject before and after it.

    `caused`: the events with this one as their cause, of those up to position `caused_through`.
    `caused_after`: the parameter that continues the search, null if there are no later events.
    """

    event: LoggedEvent
    previous_of_subject: int | None
    next_of_subject: int | None
    caused: list[LoggedEvent]
    caused_through: int
    caused_after: int | None


class RecordedRead(AnswerPart):
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
    """`next`: the `after` of the next page, null on the last one; its `before` if the newest come first."""

    reads: list[RecordedRead]
    next: int | None


class WrittenShare(AnswerPart):
    """The events and bytes that a user or process wrote to the log on one day (UTC)."""

    day: date
    actor: str
    event_count: int
    size_bytes: int


class LogUsage(Answer):
    shares: list[WrittenShare]
