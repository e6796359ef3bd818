"""The messages of the notifier and its position, in tables beside the log; each function is one query.

All functions block, and raise DatabaseAway.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from domain.errors import LabledgerError
from domain.events import Event, Recorded
from postgres.named_sql import named_queries
from store.event_log import EventLog

SQL = named_queries(Path(__file__).with_name("notifications.sql"))


class NotifierProgress(NamedTuple):
    """The position up to which events have been considered, and the time up to which timers have been."""

    position: int
    timers_until: datetime


class StoredMessage(NamedTuple):
    """A message to store. `content` is the text of a mail, or the JSON of a CloudEvent."""

    id: str
    user: str
    channel: str
    address: str | None
    lane: str
    kind: str
    title: str
    content: str


class DueMessage(NamedTuple):
    number: int
    id: str
    user: str
    channel: str
    address: str | None
    lane: str
    title: str
    content: str
    created_at: datetime
    attempts: int


class DeliveryAttempt(NamedTuple):
    """The state after an attempt: sent, waiting until `next_attempt_at`, or ended with an error."""

    number: int
    attempts: int
    state: str
    next_attempt_at: datetime | None
    error: str | None


class ShownMessage(NamedTuple):
    """A message as people see it."""

    number: int
    id: str
    user: str
    channel: str
    address: str | None
    kind: str
    title: str
    state: str
    attempts: int
    created_at: datetime
    next_attempt_at: datetime
    last_error: str | None
    finished_at: datetime | None


@dataclass(frozen=True)
class Webhook:
    url: str
    secret: str


class Outbox:
    """The lease of one notifier, and the messages that it stores and sends."""

    def __init__(self, log: EventLog, lease_seconds: float) -> None:
        self._log = log
        self._holder = uuid.uuid4().hex
        self._lease_seconds = lease_seconds

    def take(self) -> NotifierProgress | None:
        """Take or keep the lease for `lease_seconds`; None if another process has it.

        At the first start, and in a restored database, it begins at the end of the log.
        """
        params = {"holder": self._holder, "seconds": self._lease_seconds}
        for position, timers_until, is_of_this_database in self._log.rows(SQL["take_notifier"], params):
            if is_of_this_database:
                return NotifierProgress(position, timers_until)
            (begun,) = self._log.rows(SQL["begin_notifier"], params)
            return NotifierProgress(*begun)
        return None

    def release(self) -> None:
        """Let another process take the lease at once."""
        self._log.rows(SQL["release_notifier"], {"holder": self._holder})

    def write(
        self,
        before: NotifierProgress,
        after: NotifierProgress,
        messages: Sequence[StoredMessage],
        people_without_mail: int,
    ) -> None:
        """Store messages together with the progress, and the number of people whose chosen mail is not sent.

        Raises ConcurrentNotifier.
        """
        columns = list(zip(*messages, strict=True)) or [()] * len(StoredMessage._fields)
        names = ("ids", "users", "channels", "addresses", "lanes", "kinds", "titles", "contents")
        params = {
            "holder": self._holder,
            "before": before.position,
            "timers_before": before.timers_until,
            "position": after.position,
            "timers_until": after.timers_until,
            "people_without_mail": people_without_mail,
            **{name: list(column) for name, column in zip(names, columns, strict=True)},
        }
        if not self._log.rows(SQL["write_notifications"], params):
            raise ConcurrentNotifier(f"the notifier is not at position {before.position}")

    def due(self, busy_lanes: Collection[str], limit: int) -> list[DueMessage]:
        """Return the next messages to send, without those of some lanes."""
        params = {"busy": list(busy_lanes), "limit": limit}
        return [DueMessage(*row) for row in self._log.rows(SQL["due_notifications"], params)]

    def finish(self, attempts: Sequence[DeliveryAttempt]) -> None:
        names = ("numbers", "attempts", "states", "next", "errors")
        params = {name: [*values] for name, values in zip(names, zip(*attempts, strict=True), strict=True)}
        self._log.rows(SQL["finish_notifications"], params)

    def pause(self, lane: str, until: datetime) -> None:
        """Send nothing of a lane until a time."""
        self._log.rows(SQL["pause_lane"], {"lane": lane, "until": until})

    def give_up_before(self, moment: datetime) -> list[str]:
        """Give up waiting messages that are older than a moment, and return the channel of each."""
        rows = self._log.rows(SQL["give_up_old_notifications"], {"before": moment})
        return [channel for (channel,) in rows]

    def delete_before(self, moment: datetime) -> None:
        """Delete messages that were sent or given up before a moment."""
        self._log.rows(SQL["delete_old_notifications"], {"before": moment})


def messages_of(
    log: EventLog, user: str | None, state: str | None, before: int, limit: int
) -> list[ShownMessage]:
    """Return the messages of a user, None for all users, with smaller numbers, the newest first."""
    params = {"user": user, "state": state, "before": before, "limit": limit}
    return [ShownMessage(*row) for row in log.rows(SQL["notifications_of"], params)]


def store_webhook(log: EventLog, webhook_id: str, user: str, webhook: Webhook) -> None:
    """Store a webhook. Call it before the event that makes it valid."""
    params = {"id": webhook_id, "user": user, "url": webhook.url, "secret": webhook.secret}
    log.rows(SQL["store_webhook"], params)


def webhooks(log: EventLog, webhook_ids: Collection[str]) -> dict[str, Webhook]:
    """Return webhooks by id, without those that were deleted."""
    rows = log.rows(SQL["webhooks"], {"ids": list(webhook_ids)})
    return {webhook_id: Webhook(url, secret) for webhook_id, url, secret in rows}


def delete_stale_webhooks(log: EventLog, user: str, valid: str | None, former: Sequence[str]) -> None:
    """Delete the former webhooks of a user, and old ones that never became valid."""
    log.rows(SQL["delete_webhooks"], {"user": user, "valid": valid, "former": list(former)})


def recipe_beginnings(log: EventLog, subjects: Collection[str]) -> list[Recorded]:
    """Return the first event of each of the recipes."""
    rows = log.rows(SQL["recipe_beginnings"], {"subjects": list(subjects)})
    return [log.mapper.recorded(row) for row in rows]


def ended_recipes(
    log: EventLog, subjects: Collection[str], endings: Sequence[type[Event]], upto: int
) -> frozenset[str]:
    """Return those of the recipes that have ended up to a position."""
    topics = [event.TOPIC for event in endings]
    params = {"subjects": list(subjects), "topics": topics, "upto": upto}
    return frozenset(subject for (subject,) in log.rows(SQL["ended_recipes"], params))


def kept_recipes(log: EventLog, reserved: type[Event], ends: Sequence[type[Event]], upto: int) -> list[str]:
    """Return the recipes whose last state at a position is `reserved`: none of the `ends` followed."""
    topics = [event.TOPIC for event in ends]
    params = {"reserved": reserved.TOPIC, "topics": topics, "upto": upto}
    return [subject for (subject,) in log.rows(SQL["kept_recipes"], params)]


def events_of_topics(log: EventLog, events: Sequence[type[Event]], upto: int) -> list[Recorded]:
    """Return all events of these classes up to a position, in log order."""
    rows = log.rows(SQL["events_of_topics"], {"topics": [each.TOPIC for each in events], "upto": upto})
    return [log.mapper.recorded(row) for row in rows]


class ConcurrentNotifier(LabledgerError):
    """Another notifier has the lease."""
