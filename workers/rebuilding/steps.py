"""How far the parts are to fold: step by step, so that they stand at one position whenever they must end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Lock
from typing import Protocol

from workers.progress import ProgressCallback

STEP_EVENTS = 10_000
# Rows that are true now, some 500 bytes each. If there are more, no more is folded in memory.
MAX_KEPT = 1_000_000
# Who is done with one begins the next one while the others are not: long stretches of a log are of one part.
STEPS_AHEAD = 10


class Folding(Protocol):
    """A part that is being folded."""

    def go_on(self, position: int) -> None: ...

    def end(self) -> None:
        """There is no next step."""


class Steps:
    """For threads that each listen to a part. `end` says up to where there is something to be folded."""

    def __init__(
        self, parts: Sequence[Folding], end: Callable[[], int], on_progress: ProgressCallback
    ) -> None:
        self._parts = parts
        self._find_end = end
        self._on_progress = on_progress
        self._end = end()
        self._lock = Lock()
        self._reached = dict.fromkeys(range(len(parts)), 0)
        self._kept = dict.fromkeys(range(len(parts)), 0)
        self._has_ended = False
        self.position = 0
        """The last that they were told."""

    def begin(self) -> None:
        with self._lock:
            self._go_on()

    def reached(self, part: int, position: int, kept: int) -> None:
        with self._lock:
            self._reached[part], self._kept[part] = position, kept
            self._on_progress(min(self._reached.values()), self._end)
            self._go_on()

    def _go_on(self) -> None:
        """Each part is told what all are told."""
        while not self._has_ended and self.position < min(self._reached.values()) + STEPS_AHEAD * STEP_EVENTS:
            if self.position == self._end:
                self._end = self._find_end()
            if self.position == self._end or sum(self._kept.values()) > MAX_KEPT:
                self._has_ended = True
                for each in self._parts:
                    each.end()
                return
            self.position = min(self.position + STEP_EVENTS, self._end)
            for each in self._parts:
                each.go_on(self.position)
