"""Distribution of new events to all watchers of this process."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from api.watching.capacity import max_watchers
from api.watching.groups import WatcherGroups, seen
from api.watching.message import EventMessage
from api.watching.recent import Recent
from api.watching.watcher import Watcher, WatcherConnection
from store.event_log import EventLog
from store.selection import Selection

LOOK_SECONDS = 1.0
# The approximate time to write to one watcher; after a round, other work gets as much time.
SECONDS_EACH = 50e-6
MAX_PAUSE_SECONDS = 0.25
# The number of recent events in memory, for watchers that missed no more.
MISSED_EVENTS = 1_000
# Older events are read from the log, this many at a time and for this many watchers at once.
PAGE_EVENTS = 500
PAGE_BYTES = 128 << 10
READERS = 2


@dataclass
class WatchingCounters:
    """Counters for the metrics: watchers disconnected or refused, and events sent."""

    cut: int = 0
    refused: int = 0
    sent: int = 0


class Broadcast:
    """The watchers of one event loop."""

    def __init__(self, log: EventLog) -> None:
        self.counters = WatchingCounters()
        self.recent = Recent()
        self.position = 0
        self._log = log
        self._groups = WatcherGroups()
        self._watchers: dict[Watcher, None] = {}
        self._places = Counter[str]()
        self._reading = asyncio.Semaphore(READERS)
        self._timer: asyncio.TimerHandle | None = None
        self._to_wake: dict[Watcher, None] = {}
        self._pause = 0.0
        self._is_closed = False

    @property
    def watchers(self) -> int:
        """Return the number of watchers."""
        return len(self._watchers)

    def is_full_for(self, who: str) -> bool:
        """Return whether a user gets no more places: each user may have half of all."""
        limit = max_watchers()
        taken = self._places[who] >= max(1, limit // 2)
        return self._is_closed or taken or len(self._watchers) >= limit

    def begin(self, position: int) -> None:
        """Start after this position."""
        self.position = position
        self.recent.begin(position)

    def take(self, messages: Sequence[EventMessage], sizes: Sequence[int]) -> None:
        """Take the events of the next whole commits, with their sizes."""
        to_wake: dict[Watcher, None] = {}
        self.recent.add(messages, sizes)
        self.position = messages[-1].position
        for group, wanted in self._groups.wanted(messages):
            for watcher in group.watchers:
                watcher.push(wanted)
                to_wake[watcher] = None
        if to_wake and not self._to_wake:
            asyncio.get_running_loop().call_later(self._pause, self._wake)
        self._to_wake |= to_wake

    def watch(
        self,
        selection: Selection,
        after: int,
        line: WatcherConnection,
        still_allowed: Callable[[], bool],
        who: str = "",
    ) -> Watcher:
        """Return a watcher of all selected events after a position, for as long as it is allowed."""
        return Watcher(self, selection, after, line, still_allowed, who)

    async def missed(self, after: int, selection: Selection) -> tuple[Sequence[EventMessage], int]:
        """Return some selected events after a position, and the position up to which they are complete."""
        recent = self.recent.after(after, MISSED_EVENTS)
        if recent is not None:
            wanted = (one for one in recent if selection.has(one.topic, one.subject))
            return seen(selection, list(wanted)), self.position
        async with self._reading:
            return await asyncio.to_thread(self._read, after, self.position, selection)

    def enter(self, watcher: Watcher) -> None:
        """Register a watcher."""
        self._watchers[watcher] = None
        self._places[watcher.who] += 1
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(LOOK_SECONDS, self._look)

    def join(self, watcher: Watcher) -> None:
        """Send new events to a watcher that has caught up."""
        self._groups.add(watcher)

    def leave(self, watcher: Watcher) -> None:
        self._groups.remove(watcher)
        if watcher not in self._watchers:
            return
        del self._watchers[watcher]
        self._places[watcher.who] -= 1
        if not self._places[watcher.who]:
            del self._places[watcher.who]

    def close(self) -> None:
        """End every stream."""
        self._is_closed = True
        if self._timer is not None:
            self._timer.cancel()
        for watcher in list(self._watchers):
            watcher.dismiss()

    def _wake(self) -> None:
        """Wake all watchers with new events in one round; later events wait for the next round."""
        to_wake, self._to_wake = self._to_wake, {}
        self._pause = min(len(to_wake) * SECONDS_EACH, MAX_PAUSE_SECONDS)
        for watcher in to_wake:
            watcher.wake()

    def _read(self, after: int, upto: int, selection: Selection) -> tuple[Sequence[EventMessage], int]:
        found, through = self._log.select(after, upto, PAGE_EVENTS, selection, PAGE_BYTES)
        messages = [EventMessage.of(recorded) for recorded in found]
        for message in messages:
            # Decoded in this thread, outside the event loop.
            message.text  # noqa: B018
        return messages, through

    def _look(self) -> None:
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(LOOK_SECONDS, self._look) if self._watchers else None
        now = loop.time()
        for watcher in list(self._watchers):
            watcher.look(now)
