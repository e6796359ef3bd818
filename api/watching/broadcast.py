"""What was appended goes out to everybody who watches through this process."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from api.watching.capacity import most_watchers
from api.watching.groups import Groups, seen
from api.watching.message import Message
from api.watching.recent import Recent
from api.watching.watcher import Line, Watcher
from store.event_log import EventLog
from store.selection import Selection

LOOK_SECONDS = 1.0
# About what writing takes for each watcher; after a wave of it as long is left for everything else.
SECONDS_EACH = 50e-6
MAX_PAUSE_SECONDS = 0.25
# Who missed no more is told from memory.
MISSED_EVENTS = 1_000
# Of older ones so many are read at once for one watcher, and for so many watchers at a time.
PAGE_EVENTS = 500
PAGE_BYTES = 128 << 10
READERS = 2


@dataclass
class WatchingCounters:
    """For the metrics: watchers that were cut or turned away, and events written, once for each watcher."""

    cut: int = 0
    refused: int = 0
    sent: int = 0


class Broadcast:
    """For one event loop."""

    def __init__(self, log: EventLog) -> None:
        self.counters = WatchingCounters()
        self.recent = Recent()
        self.position = 0
        self._log = log
        self._groups = Groups()
        self._watchers: dict[Watcher, None] = {}
        self._places = Counter[str]()
        self._reading = asyncio.Semaphore(READERS)
        self._timer: asyncio.TimerHandle | None = None
        self._told: dict[Watcher, None] = {}
        self._pause = 0.0
        self._is_closed = False

    @property
    def watchers(self) -> int:
        """How many there are now."""
        return len(self._watchers)

    def is_full_for(self, who: str) -> bool:
        """One may have half of all places, so that others can watch, too."""
        most = most_watchers()
        taken = self._places[who] >= max(1, most // 2)
        return self._is_closed or taken or len(self._watchers) >= most

    def begin(self, position: int) -> None:
        """What comes is after this position."""
        self.position = position
        self.recent.begin(position)

    def take(self, messages: Sequence[Message], sizes: Sequence[int]) -> None:
        """The next whole commits of the log, with the size of each event."""
        told: dict[Watcher, None] = {}
        self.recent.add(messages, sizes)
        self.position = messages[-1].position
        for group, wanted in self._groups.wanted(messages):
            for watcher in group.watchers:
                watcher.push(wanted)
                told[watcher] = None
        if told and not self._told:
            asyncio.get_running_loop().call_later(self._pause, self._wake)
        self._told |= told

    def watch(
        self,
        selection: Selection,
        after: int,
        line: Line,
        still_allowed: Callable[[], bool],
        who: str = "",
    ) -> Watcher:
        """Everything selected after a position, and then whatever comes, for as long as `who` is allowed."""
        return Watcher(self, selection, after, line, still_allowed, who)

    async def missed(self, after: int, selection: Selection) -> tuple[Sequence[Message], int]:
        """A part of what is selected after a position, and the position up to which that is all of it."""
        recent = self.recent.after(after, MISSED_EVENTS)
        if recent is not None:
            wanted = (one for one in recent if selection.has(one.topic, one.subject))
            return seen(selection, list(wanted)), self.position
        async with self._reading:
            return await asyncio.to_thread(self._read, after, self.position, selection)

    def enter(self, watcher: Watcher) -> None:
        """It is there, and looked after from now on."""
        self._watchers[watcher] = None
        self._places[watcher.who] += 1
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(LOOK_SECONDS, self._look)

    def join(self, watcher: Watcher) -> None:
        """It has everything up to now, and gets what comes."""
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
        """Nothing comes any more: every stream ends."""
        self._is_closed = True
        if self._timer is not None:
            self._timer.cancel()
        for watcher in list(self._watchers):
            watcher.dismiss()

    def _wake(self) -> None:
        """A wave: everybody who was told something writes. What comes meanwhile goes out with the next."""
        told, self._told = self._told, {}
        self._pause = min(len(told) * SECONDS_EACH, MAX_PAUSE_SECONDS)
        for watcher in told:
            watcher.wake()

    def _read(self, after: int, upto: int, selection: Selection) -> tuple[Sequence[Message], int]:
        found, through = self._log.select(after, upto, PAGE_EVENTS, selection, PAGE_BYTES)
        messages = [Message.of(recorded) for recorded in found]
        for message in messages:
            # Made here, beside the event loop.
            message.text  # noqa: B018
        return messages, through

    def _look(self) -> None:
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(LOOK_SECONDS, self._look) if self._watchers else None
        now = loop.time()
        for watcher in list(self._watchers):
            watcher.look(now)
