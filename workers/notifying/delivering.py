"""Delivery: threads send due messages, those of a lane one after another. The outcomes are stored.

A lane is the mail server, or the host of a webhook. A lane whose server fails pauses, ever longer. Failing
lanes together have only half of the threads, so that they never delay the others.
"""

from __future__ import annotations

import logging
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final, Protocol
from urllib.parse import urlsplit

from domain.notifications.kinds import MAIL, WEBHOOK
from domain.notifications.messages import MAX_AGE
from domain.notifications.people import People, Recipient
from domain.notifications.retries import DROPPED, FAILED, GIVEN_UP, SENT, WAITING, next_attempt, pause_seconds
from store.notifications import DeliveryAttempt, DueMessage, Outbox, Webhook
from workers.notifying.delivery_outcome import DeliveryOutcome, dropped
from workers.notifying.mail import Mail, Mailer
from workers.notifying.webhooks import Post, WebhookSender

THREADS: Final = 16
MAX_FAILING: Final = THREADS // 2
MAX_DUE: Final = 400
# Messages of one lane that a thread sends before their outcomes are stored.
BATCH: Final = 20
# A server that works again gets its messages within this time.
MAX_LANE_PAUSE_SECONDS: Final = 300.0
KEPT_DAYS: Final = 30
HOUSEKEEPING: Final = timedelta(minutes=1)

MAIL_LANE: Final = MAIL

logger = logging.getLogger(__name__)

Parcel = Mail | Post


class WebhookSource(Protocol):
    def __call__(self, webhook_ids: Sequence[str]) -> Mapping[str, Webhook]: ...


@dataclass(frozen=True)
class Senders:
    """The ways to send messages; without a mailer no mail is sent."""

    mailer: Mailer | None
    webhook: WebhookSender


def lane_of(channel: str, webhook: Webhook | None) -> str:
    """Return the lane of a message by a channel."""
    if channel == MAIL or webhook is None:
        return MAIL_LANE
    return f"webhook {urlsplit(webhook.url).netloc.rpartition('@')[2].casefold()}"


@dataclass
class MessageDelivery:
    """Sends the messages of an outbox; `step` never waits for a server. For one thread.

    `outcomes` counts messages by channel and outcome.
    """

    outbox: Outbox
    senders: Senders
    webhooks: WebhookSource
    clock: Callable[[], datetime]
    outcomes: Counter[tuple[str, str]] = field(default_factory=Counter)
    _failures: Counter[str] = field(default_factory=Counter)
    _sending: dict[str, Future[list[tuple[DueMessage, DeliveryOutcome]]]] = field(default_factory=dict)
    _pool: ThreadPoolExecutor = field(
        default_factory=lambda: ThreadPoolExecutor(THREADS, thread_name_prefix="delivery")
    )
    _cleaned_at: datetime | None = None

    def step(self, people: People) -> bool:
        """Store the outcomes of finished batches, and begin others. Return whether something was done."""
        finished = self._store_outcomes()
        begun = self._begin(people)
        self._clean()
        return finished or begun

    def close(self, seconds: float) -> None:
        """Store the outcomes of the batches that end in time; others are sent again by the next process."""
        wait(self._sending.values(), timeout=seconds)
        self._store_outcomes()
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _store_outcomes(self) -> bool:
        done = {lane: future for lane, future in self._sending.items() if future.done()}
        attempts: list[DeliveryAttempt] = []
        pauses: dict[str, datetime] = {}
        now = self.clock()
        for lane, future in done.items():
            outcomes = future.result()
            attempts += [self._attempt(message, outcome, now) for message, outcome in outcomes]
            if any(outcome.is_server_failure for _, outcome in outcomes):
                self._failures[lane] += 1
                seconds = min(pause_seconds(self._failures[lane]), MAX_LANE_PAUSE_SECONDS)
                pauses[lane] = now + timedelta(seconds=seconds)
            else:
                del self._failures[lane]
        if attempts:
            self.outbox.finish(attempts)
        for lane, until in pauses.items():
            self.outbox.pause(lane, until)
        for lane in done:
            del self._sending[lane]
        return bool(done)

    def _attempt(self, message: DueMessage, outcome: DeliveryOutcome, now: datetime) -> DeliveryAttempt:
        attempts = message.attempts + 1
        if outcome.error is None:
            self.outcomes[message.channel, SENT] += 1
            return DeliveryAttempt(message.number, attempts, SENT, None, None)
        retry = None if outcome.is_final else next_attempt(message.created_at, now, attempts)
        ended = DROPPED if outcome.is_dropped else GIVEN_UP
        self.outcomes[message.channel, FAILED if retry else ended] += 1
        logger.info(
            "notification not sent",
            extra={"id": message.id, "channel": message.channel, "error": outcome.error, "retry_at": retry},
        )
        return DeliveryAttempt(message.number, attempts, WAITING if retry else ended, retry, outcome.error)

    def _begin(self, people: People) -> bool:
        free = THREADS - len(self._sending)
        if not free:
            return False
        failing = sum(self._failures[lane] > 0 for lane in self._sending)
        # Failing lanes that have to wait would leave no room for others in the answer.
        skipped = [*self._sending, *(self._failures if failing >= MAX_FAILING else ())]
        lanes: dict[str, list[DueMessage]] = {}
        for message in self.outbox.due(skipped, MAX_DUE):
            lanes.setdefault(message.lane, []).append(message)
        if not lanes:
            return False
        chosen = list(_chosen(lanes, self._failures, free, MAX_FAILING - failing))
        webhooks = self._webhooks_of(people, [each for lane in chosen for each in lanes[lane][:BATCH]])
        for lane in chosen:
            batch = lanes[lane][:BATCH]
            parcels = [self._parcel(each, people, webhooks) for each in batch]
            self._sending[lane] = self._pool.submit(self._send, batch, parcels)
        return bool(chosen)

    def _webhooks_of(self, people: People, messages: Sequence[DueMessage]) -> Mapping[str, Webhook]:
        persons = [people.get(each.user) for each in messages if each.channel == WEBHOOK]
        ids = [each.webhook_id for each in persons if each is not None and each.webhook_id is not None]
        return self.webhooks(list(dict.fromkeys(ids))) if ids else {}

    def _parcel(
        self, message: DueMessage, people: People, webhooks: Mapping[str, Webhook]
    ) -> Parcel | DeliveryOutcome:
        """Return what is sent to the present address of the recipient, or why nothing can be sent."""
        person = people.get(message.user)
        if person is None or person.registered_at > message.created_at:
            return dropped("the user does not exist any more")
        if message.channel == MAIL:
            return self._mail(message, person)
        webhook = webhooks.get(person.webhook_id or "")
        if webhook is None:
            return dropped("the user has no webhook any more")
        body = message.content.encode()
        return Post(message.id, webhook.url, webhook.secret, body, person.is_admin)

    def _mail(self, message: DueMessage, person: Recipient) -> Parcel | DeliveryOutcome:
        recipient = message.address or person.email
        if recipient is None:
            return dropped("the user has no address any more")
        if self.senders.mailer is None:
            return DeliveryOutcome("the service sends no mail", is_final=True)
        return Mail(message.id, recipient, message.title, message.content, message.created_at)

    def _send(
        self, batch: Sequence[DueMessage], parcels: Sequence[Parcel | DeliveryOutcome]
    ) -> list[tuple[DueMessage, DeliveryOutcome]]:
        """Send a batch of one lane, in a thread. Messages that were not tried have no outcome."""
        done = [
            (message, each)
            for message, each in zip(batch, parcels, strict=True)
            if isinstance(each, DeliveryOutcome)
        ]
        mails = [(m, each) for m, each in zip(batch, parcels, strict=True) if isinstance(each, Mail)]
        posts = [(m, each) for m, each in zip(batch, parcels, strict=True) if isinstance(each, Post)]
        if mails and self.senders.mailer is not None:
            outcomes = self.senders.mailer.send([mail for _, mail in mails])
            done += zip((message for message, _ in mails), outcomes, strict=False)
        posted = self.senders.webhook.send([post for _, post in posts])
        return done + list(zip((message for message, _ in posts), posted, strict=False))

    def _clean(self) -> None:
        now = self.clock()
        if self._cleaned_at is not None and now - self._cleaned_at < HOUSEKEEPING:
            return
        self._cleaned_at = now
        for channel in self.outbox.give_up_before(now - MAX_AGE):
            self.outcomes[channel, GIVEN_UP] += 1
        self.outbox.delete_before(now - timedelta(days=KEPT_DAYS))


def _chosen(
    lanes: Mapping[str, object], failures: Mapping[str, int], free: int, free_failing: float
) -> Iterator[str]:
    """Yield the lanes to serve, in order, at most `free`, and at most `free_failing` that fail."""
    left = {False: math.inf, True: free_failing}
    for lane in lanes:
        is_failing = failures.get(lane, 0) > 0
        if free > 0 and left[is_failing] > 0:
            left[is_failing] -= 1
            free -= 1
            yield lane
