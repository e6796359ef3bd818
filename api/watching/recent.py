"""A buffer of the latest messages, for watchers that reconnect or lag behind."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from api.watching.message import EventMessage

# The buffer grows to twice one of these sizes before the older half is dropped.
RECENT_EVENTS = 10_000
RECENT_BYTES = 16 << 20


class Recent:
    """The latest messages: all those after the position `complete_after`."""

    def __init__(self, events: int = RECENT_EVENTS, size_bytes: int = RECENT_BYTES) -> None:
        self.complete_after = 0
        self._events = events
        self._size_bytes = size_bytes
        self._messages: list[EventMessage] = []
        self._sizes: list[int] = []
        self._total_bytes = 0

    def begin(self, position: int) -> None:
        """Start with an empty buffer after this position."""
        self.complete_after = position

    def add(self, messages: Sequence[EventMessage], sizes: Sequence[int]) -> None:
        self._messages.extend(messages)
        self._sizes.extend(sizes)
        self._total_bytes += sum(sizes)
        if len(self._messages) > 2 * self._events or self._total_bytes > 2 * self._size_bytes:
            self._drop_older()

    def after(self, position: int, limit: int) -> Sequence[EventMessage] | None:
        """Return all messages after a position, None if they exceed `limit` or the buffer lacks some."""
        if position < self.complete_after:
            return None
        first = bisect_right(self._messages, position, key=lambda message: message.position)
        return None if len(self._messages) - first > limit else self._messages[first:]

    def _drop_older(self) -> None:
        dropped = max(0, len(self._messages) - self._events)
        self._total_bytes -= sum(self._sizes[:dropped])
        while self._total_bytes > self._size_bytes:
            self._total_bytes -= self._sizes[dropped]
            dropped += 1
        self.complete_after = self._messages[dropped - 1].position
        del self._messages[:dropped], self._sizes[:dropped]
