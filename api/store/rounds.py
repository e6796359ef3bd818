"""What tasks of a busy event loop ask for goes on together, once nothing more comes of its rounds.

No timer says when: a request takes some rounds of the loop from its first byte to here, so those whose
bytes have come are here a few rounds later, however long the rounds are; and a loop that has nothing else
to do makes them at once.
"""

from __future__ import annotations

from asyncio import AbstractEventLoop
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

T = TypeVar("T")

QUIET_ROUNDS = 4
# Rounds that are full of other things are long; nobody waits for so many of them.
QUIET_SECONDS = 0.004
MOST_SECONDS = 0.02


@dataclass
class _Gathered(Generic[T]):
    since: float
    items: list[T] = field(default_factory=list)
    seen: int = 0
    quiet_rounds: int = 0
    quiet_since: float = 0.0

    def is_whole(self, now: float) -> bool:
        """To be asked once a round."""
        if len(self.items) > self.seen:
            self.seen, self.quiet_rounds, self.quiet_since = len(self.items), 0, now
        else:
            self.quiet_rounds += 1
        is_quiet = self.quiet_rounds >= QUIET_ROUNDS or now - self.quiet_since > QUIET_SECONDS
        return is_quiet or now - self.since > MOST_SECONDS


class Rounds(Generic[T]):
    """For any number of event loops, each of which hands on by itself what was asked for in it."""

    def __init__(self, hand_on: Callable[[list[T]], None]) -> None:
        self._hand_on = hand_on
        self._gathered: dict[AbstractEventLoop, _Gathered[T]] = {}

    def add(self, loop: AbstractEventLoop, item: T) -> None:
        """To be called in the loop."""
        gathered = self._gathered.get(loop)
        if gathered is None:
            gathered = self._gathered[loop] = _Gathered(loop.time())
            loop.call_soon(self._round, loop)
        gathered.items.append(item)

    def end(self) -> None:
        """Hand on everything now."""
        for loop in list(self._gathered):
            self._end(loop)

    def _round(self, loop: AbstractEventLoop) -> None:
        gathered = self._gathered.get(loop)
        if gathered is None:
            return
        if gathered.is_whole(loop.time()):
            self._end(loop)
        else:
            loop.call_soon(self._round, loop)

    def _end(self, loop: AbstractEventLoop) -> None:
        if gathered := self._gathered.pop(loop, None):
            self._hand_on(gathered.items)
