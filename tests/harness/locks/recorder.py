"""The locks that this process holds, and the file to which their nestings and hold times are written."""

from __future__ import annotations

import atexit
import json
import os
import sys
import time
from collections import Counter, deque
from collections.abc import Iterable
from contextvars import ContextVar
from math import ceil, log2
from pathlib import Path
from types import FrameType
from typing import Any

TOP = Path(__file__).resolve().parents[3]
FLUSH_SECONDS = 1.0
# Two buckets for each doubling of the hold time, in microseconds.
BUCKETS_PER_DOUBLING = 2
HARNESS = str(Path(__file__).parent)
STANDARD_LIBRARY = str(Path(os.__file__).parent)


class Hold:
    """A lock that is held. It counts until it is released, also in a context that was copied meanwhile."""

    def __init__(self, name: str, lock: object = None) -> None:
        self.name = name
        self.lock = lock
        self.since = time.perf_counter()
        self.is_released = False

    @property
    def is_over(self) -> bool:
        return self.is_released


HELD: ContextVar[tuple[Hold, ...]] = ContextVar("held_locks", default=())
"""The locks that the thread or task took, the outermost first; for a task with those of its creator."""


class Recorder:
    """Writes each new nesting at once, because the process may be killed, and hold times every second."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / f"{os.getpid()}-{time.time_ns()}.jsonl"
        self._file = -1
        self._seen: set[tuple[str, ...]] = set()
        self._held_for: deque[tuple[str, float]] = deque()
        self._flushed_at = time.perf_counter()
        atexit.register(self.flush)

    def enter(self, name: str, *, source: str, others: Iterable[Hold] = ()) -> None:
        """Record the nesting of a lock, which is about to be taken, in the held ones."""
        held = [*live_holds(), *(hold for hold in others if not hold.is_over)]
        for outer in dict.fromkeys(hold.name for hold in held):
            self.nest(outer, name, source)

    def nest(self, outer: str, inner: str, source: str) -> None:
        self._write_once("nesting", outer, inner, source)

    def beside(self, one: str, other: str) -> None:
        """Record two locks of a session whose order was not seen."""
        self._write_once("beside", *sorted((one, other)), "observer")

    def iterate(self, name: str) -> None:
        """Record an iteration over a collection that the held lock guards."""
        self._write_once("iteration", name, name, "collection")

    def hold(self, hold: Hold) -> Hold:
        HELD.set((*live_holds(), hold))
        return hold

    def release(self, hold: Hold, *, is_over: bool = True) -> None:
        """Release a hold. Its time is recorded if the lock `is_over`, not if another hold continues it."""
        if hold.is_released:
            return
        hold.is_released = True
        HELD.set(live_holds())
        if not is_over:
            return
        now = time.perf_counter()
        self._held_for.append((hold.name, now - hold.since))
        if now - self._flushed_at > FLUSH_SECONDS:
            self.flush()

    def flush(self) -> None:
        """Write the hold times since the last flush."""
        self._flushed_at = time.perf_counter()
        for name, seconds in _by_name(self._held_for).items():
            buckets = Counter(bucket(each) for each in seconds)
            self._write(["hold", name, len(seconds), sum(seconds), max(seconds), buckets])

    def _write_once(self, *what: str) -> None:
        test = os.environ.get("PYTEST_CURRENT_TEST", "").partition(" (")[0]
        key = (*what, test)
        if key not in self._seen:
            self._seen.add(key)
            self._write([*what, test, caller()])

    def _write(self, record: list[Any]) -> None:
        if self._file < 0:
            self._file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        # One call, so that records of a forked process do not mix with those of its parent.
        os.write(self._file, f"{json.dumps(record)}\n".encode())


def live_holds() -> tuple[Hold, ...]:
    """Return the locks that this thread or task still holds."""
    held = HELD.get()
    return tuple(hold for hold in held if not hold.is_over) if held else held


def bucket(seconds: float) -> int:
    return max(0, ceil(log2(max(seconds, 1e-9) * 1e6) * BUCKETS_PER_DOUBLING))


def seconds_of(number: int) -> float:
    """Return the upper end of a bucket."""
    return float(2 ** (number / BUCKETS_PER_DOUBLING)) / 1e6


def caller() -> str:
    """Return the place outside of libraries and of the recorder that takes the lock."""
    frame = calling_frame()
    if frame is None:
        return "?"
    file = Path(frame.f_code.co_filename)
    name = file.relative_to(TOP) if file.is_relative_to(TOP) else file
    return f"{name}:{frame.f_lineno}"


def calling_frame() -> FrameType | None:
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and _is_inside(frame.f_code.co_filename):
        frame = frame.f_back
    return frame


def _is_inside(file: str) -> bool:
    return file.startswith((HARNESS, STANDARD_LIBRARY, "<")) or "/site-packages/" in file


def _by_name(held_for: deque[tuple[str, float]]) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    while held_for:
        name, seconds = held_for.popleft()
        found.setdefault(name, []).append(seconds)
    return found
