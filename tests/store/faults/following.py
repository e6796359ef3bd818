"""Iterate a subscription aside, so that a test can give up waiting for it."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from eventsourcing.persistence import ApplicationRecorder, Subscription

Heard = queue.SimpleQueue[str | Exception]


@contextmanager
def following(recorder: ApplicationRecorder) -> Iterator[Heard]:
    """The subjects of what is delivered, in order; the last is the error that ended it, if one did."""
    heard: Heard = queue.SimpleQueue()
    with recorder.subscribe(gt=0) as subscription:
        thread = threading.Thread(target=_listen, args=(subscription, heard), daemon=True)
        thread.start()
        try:
            yield heard
        finally:
            subscription.stop()
            thread.join(10)


def _listen(subscription: Subscription[ApplicationRecorder], heard: Heard) -> None:
    try:
        for notification in subscription:
            heard.put(str(notification.originator_id))
    except Exception as error:
        heard.put(error)


def next_of(heard: Heard, seconds: float) -> str | Exception | None:
    """None when nothing comes in time."""
    try:
        return heard.get(timeout=seconds)
    except queue.Empty:
        return None
