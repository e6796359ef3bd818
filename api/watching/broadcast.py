"""Distribution of new events to all watchers of this process."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from api.watching.capacity import max_watchers
from api.watching.groups import WatcherGroups, visible
from api.watching.message import EventMessage, PartitionNames
from api.watching.recent import Recent
from api.watching.watcher import Watcher, WatcherConnection
from runtime.locks import LockClass
from store.event_log import EventLog
from store.selection import Selection

CHECK_SECONDS = 1.0
# The approximate time to write to one watcher. After a round over the watchers, other work gets as much time.
WRITE_SECONDS_PER_WATCHER = 50e-6
MAX_PAUSE_SECONDS = 0.25
# A watcher that missed at most this many events gets them from memory.
MAX_MISSED_IN_MEMORY = 1_000
# Other watchers get theirs from the log, in pages of this size, for this many watchers at the same time.
PAGE_EVENTS = 500
PAGE_BYTES = 128 << 10
MAX_READERS = 2


@dataclass
class WatchingCounters:
    """Counters for the metrics: watchers disconnected or refused, and events sent."""

    cut: int = 0
    refused: int = 0
    sent: int = 0


class Broadcast:
    """The watchers of one event loop."""

    def __init__(self, log: EventLog, names: PartitionNames) -> None:
        self.counters = WatchingCounters()
        self.recent = Recent()
        self.position = 0
        self._log = log
        self._names = names
        self._groups = WatcherGroups()
        self._watchers: dict[Watcher, None] = {}
        self._count_by_user = Counter[str]()
        self._reading = LockClass.WATCHER_READS.task_semaphore(MAX_READERS)
        self._timer: asyncio.TimerHandle | None = None
        self._to_wake: dict[Watcher, None] = {}
        self._pause = 0.0
        self._is_closed = False

    @property
    def watchers(self) -> int:
        """Return the number of watchers."""
        return len(self._watchers)

    def is_full_for(self, user: str) -> bool:
        """Return whether the user may not begin a watcher: each user may have half of the maximum."""
        limit = max_watchers()
        has_maximum = self._count_by_user[user] >= max(1, limit // 2)
        return self._is_closed or has_maximum or len(self._watchers) >= limit

    def begin(self, position: int) -> None:
        self.position = position
        self.recent.begin(position)

    def take(self, messages: Sequence[EventMessage], sizes: Sequence[int]) -> None:
        """Give the events of the next whole commits to the watchers, and to `recent` with their sizes."""
        to_wake: dict[Watcher, None] = {}
        self.recent.add(messages, sizes)
        self.position = messages[-1].position
        for group, selected in self._groups.messages_by_group(messages):
            for watcher in group.watchers:
                watcher.push(selected)
                to_wake[watcher] = None
        if to_wake and not self._to_wake:
            asyncio.get_running_loop().call_later(self._pause, self._wake)
        self._to_wake |= to_wake

    def watch(
        self,
        selection: Selection,
        after: int,
        connection: WatcherConnection,
        is_allowed: Callable[[], bool],
        user: str = "",
    ) -> Watcher:
        """Return a watcher of the selected events after a position, as long as `is_allowed` is true."""
        return Watcher(self, selection, after, connection, is_allowed, user)

    async def missed(self, after: int, selection: Selection) -> tuple[Sequence[EventMessage], int]:
        """Return some selected events after a position, and the position up to which they are complete."""
        recent = self.recent.after(after, MAX_MISSED_IN_MEMORY)
        if recent is not None:
            selected = [message for message in recent if selection.has(message.topic, message.subject)]
            return visible(selection, selected), self.position
        async with self._reading:
            return await asyncio.to_thread(self._read, after, self.position, selection)

    def enter(self, watcher: Watcher) -> None:
        self._watchers[watcher] = None
        self._count_by_user[watcher.user] += 1
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(CHECK_SECONDS, self._check)

    def join(self, watcher: Watcher) -> None:
        """Send new events to a watcher that has caught up."""
        self._groups.add(watcher)

    def leave(self, watcher: Watcher) -> None:
        self._groups.remove(watcher)
        if watcher not in self._watchers:
            return
        del self._watchers[watcher]
        self._count_by_user[watcher.user] -= 1
        if not self._count_by_user[watcher.user]:
            del self._count_by_user[watcher.user]

    def close(self) -> None:
        self._is_closed = True
        if self._timer is not None:
            self._timer.cancel()
        for watcher in list(self._watchers):
            watcher.end_now()

    def _wake(self) -> None:
        """Wake all watchers with new events in one round; later events wait for the next round."""
        to_wake, self._to_wake = self._to_wake, {}
        self._pause = min(len(to_wake) * WRITE_SECONDS_PER_WATCHER, MAX_PAUSE_SECONDS)
        for watcher in to_wake:
            watcher.wake()

    def _read(self, after: int, upto: int, selection: Selection) -> tuple[Sequence[EventMessage], int]:
        selected, through = self._log.select(after, upto, PAGE_EVENTS, selection, PAGE_BYTES)
        messages = [EventMessage.from_recorded(recorded, self._names) for recorded in selected]
        for message in messages:
            # Decoded in this thread, outside the event loop.
            message.text  # noqa: B018
        return messages, through

    def _check(self) -> None:
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(CHECK_SECONDS, self._check) if self._watchers else None
        now = loop.time()
        for watcher in list(self._watchers):
            watcher.check(now)
