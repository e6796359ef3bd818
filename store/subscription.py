"""The library's subscription, on our tailer: no race at the start, polls as a backstop, reconnects."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from eventsourcing.persistence import ApplicationRecorder, Notification, Subscription

from store.mapper import StoredRow
from store.tailer import Tailer


class TailedSubscription(Subscription[ApplicationRecorder]):
    """Iterated by one thread; `stop` may come from any and is seen within the tailer's poll."""

    def __init__(
        self, recorder: ApplicationRecorder, url: str, gt: int | None = None, topics: Sequence[str] = ()
    ) -> None:
        super().__init__(recorder, gt, topics)
        self._tailer = Tailer(url, after=gt or 0)
        self._waiting: deque[StoredRow] = deque()

    def __exit__(self, *args: object, **kwargs: object) -> None:
        super().__exit__(*args, **kwargs)
        self._tailer.close()

    def __next__(self) -> Notification:
        while not self._has_been_stopped:
            if self._waiting:
                return _notification(self._waiting.popleft())
            page = self._tailer.next_page(1.0)
            self._waiting.extend(row for row in page if not self._topics or row.topic in self._topics)
        raise StopIteration


def _notification(row: StoredRow) -> Notification:
    return Notification(row.subject, row.version, row.topic, row.state, row.position)
