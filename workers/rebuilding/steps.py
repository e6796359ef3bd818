"""The steps of a rebuild: the positions up to which both halves fold, so that both end at the same one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from runtime.locks import LockClass
from runtime.machine_memory import machine_memory
from workers.progress import ProgressCallback

STEP_EVENTS = 10_000
# Maximum number of open rows in memory. Some 500 bytes each may take a quarter of it. Beyond it, the rest is
# folded page by page.
MAX_KEPT_ROWS = machine_memory() // 4 // 500
# Maximum lead of a half over the slower one; long stretches of a log belong to one half only.
STEPS_AHEAD = 10


class HalfFolder(Protocol):
    """A process that folds one half of a rebuild."""

    def fold_up_to(self, position: int) -> None: ...

    def finish(self) -> None:
        """Signal that there is no next step."""


class Steps:
    """The steps of both halves. Thread-safe.

    `find_end` returns the end of the log at that moment, `commit_end` that of the commit with a position. A
    step may end within a commit, but not the last one: what folds the rest of the log expects whole commits.
    """

    def __init__(
        self,
        halves: Sequence[HalfFolder],
        find_end: Callable[[], int],
        commit_end: Callable[[int], int],
        on_progress: ProgressCallback,
    ) -> None:
        self._halves = halves
        self._find_end = find_end
        self._commit_end = commit_end
        self._on_progress = on_progress
        self._end = find_end()
        self._lock = LockClass.REBUILD_STEPS.mutex()
        # One number for each half. Replaced as a whole: no collection is shared under the lock.
        self._reached: tuple[int, ...] = (0,) * len(halves)
        self._kept: tuple[int, ...] = (0,) * len(halves)
        self._has_ended = False
        self.position = 0
        """The last position that was sent to the halves."""

    def begin(self) -> None:
        with self._lock:
            self._send_steps()

    def reached(self, half: int, position: int, kept: int) -> None:
        with self._lock:
            self._reached = _with_number(self._reached, half, position)
            self._kept = _with_number(self._kept, half, kept)
            self._on_progress(min(self._reached), self._end)
            self._send_steps()

    def _send_steps(self) -> None:
        """Send the next positions to both halves, or finish them."""
        while not self._has_ended and self.position < min(self._reached) + STEPS_AHEAD * STEP_EVENTS:
            if self.position == self._end:
                self._end = self._find_end()
            if self.position == self._end:
                self._finish()
            elif sum(self._kept) > MAX_KEPT_ROWS:
                self._send(self._commit_end(self.position))
                self._finish()
            else:
                self._send(min(self.position + STEP_EVENTS, self._end))

    def _send(self, position: int) -> None:
        self.position = position
        for half in self._halves:
            half.fold_up_to(position)

    def _finish(self) -> None:
        self._has_ended = True
        for half in self._halves:
            half.finish()


def _with_number(numbers: tuple[int, ...], place: int, number: int) -> tuple[int, ...]:
    return (*numbers[:place], number, *numbers[place + 1 :])
