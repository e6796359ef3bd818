"""The notifier: it follows the log from its stored position, stores messages, and delivers them."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final

import orjson

from domain.notifications.kinds import WEBHOOK
from domain.notifications.messages import Message, Routing, event_of, is_too_old, messages
from domain.notifications.notice import Notice
from domain.notifications.people import People
from domain.notifications.texts import mail_text
from postgres.errors import DatabaseAway
from store.event_log import EventLog
from store.notifications import ConcurrentNotifier, NotifierProgress, Outbox, StoredMessage, webhooks
from store.tailer import Tailer, TailerCounters
from workers.notifying.delivering import MessageDelivery, Senders, lane_of
from workers.notifying.notice_reader import NoticeReader

LEASE_SECONDS: Final = 15.0
RENEW_SECONDS: Final = 4.0
RETRY_SECONDS: Final = 1.0
# The time between two looks at the outbox while the log does not grow.
POLL_SECONDS: Final = 0.3
# A position without messages is stored this often.
PROGRESS_SECONDS: Final = 2.0
STOP_SECONDS: Final = 5.0

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Options:
    """The settings of the notifier. `web_url` begins the links in messages, None without links."""

    routing: Routing
    senders: Senders
    near_seconds: float
    web_url: str | None


@dataclass
class NotifierCounters:
    """Counts since the start of the process: events, notices that were too old, messages by outcome."""

    events: int = 0
    too_old: int = 0
    outcomes: Counter[tuple[str, str]] = field(default_factory=Counter)


class Notifier:
    """One process that is active, or stands by until no other one is."""

    def __init__(
        self,
        log: EventLog,
        options: Options,
        counters: NotifierCounters,
        tailer_counters: TailerCounters,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._log = log
        self._options = options
        self._counters = counters
        self._tailer_counters = tailer_counters
        self._clock = clock
        self._outbox = Outbox(log, LEASE_SECONDS)

    def run(self, stopping: Callable[[], bool]) -> None:
        """Follow and deliver until `stopping` returns True.

        After a database error, continue from the stored position.
        """
        while not stopping():
            try:
                progress = self._outbox.take()
                if progress is not None:
                    self._follow(progress, stopping)
                else:
                    time.sleep(RETRY_SECONDS)
            except (DatabaseAway, ConcurrentNotifier) as error:
                logger.warning("notifier: %s; continuing from the stored position", error)
                time.sleep(RETRY_SECONDS)
        with suppress(DatabaseAway):
            self._outbox.release()

    def _follow(self, progress: NotifierProgress, stopping: Callable[[], bool]) -> None:
        options = self._options
        reader = NoticeReader(self._log, progress.position, progress.timers_until, options.near_seconds)
        delivery = MessageDelivery(
            self._outbox,
            options.senders,
            lambda ids: webhooks(self._log, ids),
            self._clock,
            self._counters.outcomes,
        )
        tailer = Tailer(
            self._log.datastore.url,
            progress.position,
            poll_seconds=POLL_SECONDS,
            counters=self._tailer_counters,
        )
        lease = _NotifierLease(self._outbox)
        try:
            while not stopping() and lease.is_kept():
                page = [self._log.mapper.recorded(row) for row in tailer.next_page(POLL_SECONDS)]
                self._counters.events += len(page)
                notices = reader.notices(page) if page else []
                now, timers_until = self._clock(), progress.timers_until
                # An end that is near may have moved in events that are not read yet.
                if not tailer.has_unread:
                    notices += reader.near(now)
                    timers_until = now
                following = NotifierProgress(tailer.position, timers_until)
                if notices or now - progress.timers_until > timedelta(seconds=PROGRESS_SECONDS):
                    found = self._new_messages(notices, reader.people, now)
                    self._outbox.write(progress, following, found, self._without_mail(reader.people))
                    progress = following
                    reader.save_snapshot(progress.position)
                delivery.step(reader.people)
        finally:
            tailer.close()
            with suppress(DatabaseAway):
                delivery.close(STOP_SECONDS)

    def _without_mail(self, people: People) -> int:
        """Return the number of people who chose mail that is not sent, as the service has no mail server."""
        return 0 if self._options.routing.sends_mail else people.mail_chooser_count

    def _new_messages(self, notices: Sequence[Notice], people: People, now: datetime) -> list[StoredMessage]:
        found: list[Message] = []
        for notice in notices:
            made = list(messages(notice, people, self._options.routing))
            if is_too_old(notice, now):
                self._counters.too_old += len(made)
            else:
                found += made
        lanes = self._lanes(found, people)
        return [self._new_message(each, lanes.get(each.user, "")) for each in found]

    def _lanes(self, found: Sequence[Message], people: People) -> dict[str, str]:
        """Return the lanes of the webhooks of users: one query, none without webhooks."""
        persons = {each.user: people.get(each.user) for each in found if each.channel == WEBHOOK}
        ids = {name: each.webhook_id for name, each in persons.items() if each is not None}
        stored = webhooks(self._log, [each for each in ids.values() if each]) if ids else {}
        return {name: lane_of(WEBHOOK, stored.get(each or "")) for name, each in ids.items()}

    def _new_message(self, message: Message, webhook_lane: str) -> StoredMessage:
        notice, web_url = message.notice, self._options.web_url
        is_webhook = message.channel == WEBHOOK
        content = event_of(message.id, notice, web_url or "labledger") if is_webhook else None
        text = mail_text(notice, web_url) if content is None else orjson.dumps(content).decode()
        lane = webhook_lane if is_webhook else lane_of(message.channel, None)
        return StoredMessage(
            message.id, message.user, message.channel, message.address, lane, notice.kind, notice.title, text
        )


class _NotifierLease:
    """The lease of this process, renewed every RENEW_SECONDS."""

    def __init__(self, outbox: Outbox) -> None:
        self._outbox = outbox
        self._renewed_at = time.monotonic()

    def is_kept(self) -> bool:
        if time.monotonic() - self._renewed_at < RENEW_SECONDS:
            return True
        self._renewed_at = time.monotonic()
        return self._outbox.take() is not None
