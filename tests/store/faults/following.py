"""A subscription in a thread, so that a test can stop waiting for it."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from eventsourcing.persistence import ApplicationRecorder, Subscription

LastContacts = queue.SimpleQueue[str | Exception]


@contextmanager
def following(recorder: ApplicationRecorder) -> Iterator[LastContacts]:
    """Yield a queue of the subjects of delivered events. The error that ends the subscription comes last."""
    heard: LastContacts = queue.SimpleQueue()
    with recorder.subscribe(gt=0) as subscription:
        thread = threading.Thread(target=_listen, args=(subscription, heard), daemon=True)
        thread.start()
        try:
            yield heard
        finally:
            subscription.stop()
            thread.join(10)


def _listen(subscription: Subscription[ApplicationRecorder], heard: LastContacts) -> None:
    try:
        for notification in subscription:
            heard.put(str(notification.originator_id))
    except Exception as error:
        heard.put(error)


def next_of(heard: LastContacts, seconds: float) -> str | Exception | None:
    """Return the next item, or None after the timeout."""
    try:
        return heard.get(timeout=seconds)
    except queue.Empty:
        return None
