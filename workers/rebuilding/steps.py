"""The steps of a rebuild: positions up to which all parts fold, so that all can end at one position."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Lock
from typing import Protocol

from workers.progress import ProgressCallback

STEP_EVENTS = 10_000
# Present rows in memory, some 500 bytes each. If there are more, the rest of the log is not folded in memory.
MAX_KEPT_ROWS = 1_000_000
# A part may be this far ahead of the others, because long stretches of a log belong to one part.
STEPS_AHEAD = 10


class Folding(Protocol):
    """The process of one part."""

    def go_on(self, position: int) -> None: ...

    def end(self) -> None:
        """Say that there is no next step."""


class Steps:
    """The steps of all parts, for one thread per part. `end` returns the position at which to end."""

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
        """The last position that was sent to the parts."""

    def begin(self) -> None:
        with self._lock:
            self._go_on()

    def reached(self, part: int, position: int, kept: int) -> None:
        with self._lock:
            self._reached[part], self._kept[part] = position, kept
            self._on_progress(min(self._reached.values()), self._end)
            self._go_on()

    def _go_on(self) -> None:
        """Send the next positions to all parts, or end them."""
        while not self._has_ended and self.position < min(self._reached.values()) + STEPS_AHEAD * STEP_EVENTS:
            if self.position == self._end:
                self._end = self._find_end()
            if self.position == self._end or sum(self._kept.values()) > MAX_KEPT_ROWS:
                self._has_ended = True
                for each in self._parts:
                    each.end()
                return
            self.position = min(self.position + STEP_EVENTS, self._end)
            for each in self._parts:
                each.go_on(self.position)
