"""The choice of the messages to send next, while many servers fail."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from datetime import UTC, datetime
from threading import Event as Flag
from typing import Any

import pytest

from domain.directory.events import UserNotificationsChanged, UserRegistered
from domain.events import Recorded, Stamp
from domain.notifications.kinds import JOB_ENDED, WEBHOOK
from domain.notifications.people import People
from store.notifications import DueMessage, Webhook
from tests.harness.waiting import wait_until
from workers.notifying import delivering
from workers.notifying.delivering import MAX_FAILING, MessageDelivery, Senders
from workers.notifying.delivery_outcome import SUCCESS, DeliveryOutcome
from workers.notifying.webhooks import Post

NOW = datetime(2027, 1, 1, tzinfo=UTC)
ANN = [UserRegistered(roles=["submitter"], email=None), UserNotificationsChanged([], [JOB_ENDED], "w")]


class Queue:
    """An outbox with one message for each lane, which is due unless the lane pauses."""

    def __init__(self, *lanes: str) -> None:
        self.lanes = list(lanes)
        self.paused: set[str] = set()

    def pause(self, lane: str, _: datetime) -> None:
        self.paused.add(lane)

    def due(self, busy: Collection[str], limit: int) -> list[DueMessage]:
        free = [lane for lane in self.lanes if lane not in {*busy, *self.paused}]
        return [DueMessage(1, lane, "ann", WEBHOOK, None, lane, "", "{}", NOW, 0) for lane in free[:limit]]

    def __getattr__(self, name: str) -> Any:
        return lambda *_: []


class Sender:
    """Sends to the lane `well`; the servers of others fail, at first at once, later after a long time."""

    def __init__(self) -> None:
        self.is_slow, self.released = False, Flag()
        self.failed: set[str] = set()
        self.sent: list[str] = []

    def send(self, posts: Sequence[Post]) -> Iterator[DeliveryOutcome]:
        for post in posts:
            if post.message_id == "well":
                self.sent.append(post.message_id)
                yield SUCCESS
                continue
            if self.is_slow:
                self.released.wait(60)
            self.failed.add(post.message_id)
            yield DeliveryOutcome("503", is_server_failure=True)


def test_delivery__more_failing_servers_than_may_be_tried__never_delay_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(delivering, "MAX_DUE", 2)
    people = People()
    for number, event in enumerate(ANN, 1):
        people.apply(Recorded(number, number, NOW, "user/ann", number, event, Stamp(NOW, "root", "test")))
    failing = [f"bad {number}" for number in range(MAX_FAILING + 2)]
    queue, sender = Queue(*failing), Sender()
    senders: Any = Senders(None, sender)  # type: ignore[arg-type]
    webhook = {"w": Webhook("http://localhost", "secret")}
    delivery = MessageDelivery(queue, senders, lambda _: webhook, lambda: NOW)  # type: ignore[arg-type]

    def stepped(is_done: bool) -> bool:
        delivery.step(people)
        return is_done

    wait_until(lambda: stepped(len(sender.failed) == len(failing)), "each server to fail")
    sender.is_slow = True
    queue.lanes.append("well")
    queue.paused.clear()
    try:
        wait_until(lambda: stepped(bool(sender.sent)), "the message to the server that works")
    finally:
        sender.released.set()
        delivery.close(60)
