"""Numbers that the serving processes of a service report to each other: what each caller uses of a bound.

The memory is shared by the processes, which are forked from one. Each process writes into a row of its own,
so no process waits for another one, and a process that is killed leaves nothing locked.
"""

from __future__ import annotations

import logging
import mmap
import os
import time
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path
from typing import Final, Protocol

from runtime.locks import LockClass

# Entries in the row of a process. Few callers have a number that is neither 0 nor outdated. If there are
# more, the oldest entries are dropped, and the other processes no longer count them.
ENTRIES: Final = 8_192
# The number of neighbouring entries in which a key may be.
PROBES: Final = 8
# An entry has the hash of its key, its number, and the time of both in nanoseconds.
_WORDS: Final = 3
_WORD_BYTES: Final = 8
NO_ROW: Final = -1

logger = logging.getLogger(__name__)


class ReportedNumbers(Protocol):
    """Numbers that serving processes report to each other, each by a key."""

    def join(self) -> None:
        """Take part, in a process that was forked."""

    def leave(self, pid: int) -> None:
        """Remove the numbers of a forked process that has ended."""

    def put(self, key: str, number: int) -> None:
        """Report a number of this process to the others."""

    def of_others(self, key: str, seconds: float | None = None) -> list[int]:
        """Return the numbers, other than 0, of other processes: those of the last seconds, by default all."""


class UnsharedNumbers:
    """The numbers of the only serving process, which reports them to no other."""

    def join(self) -> None:
        """Do nothing."""

    def leave(self, pid: int) -> None:
        """Do nothing."""

    def put(self, key: str, number: int) -> None:
        """Report nothing."""

    def of_others(self, key: str, seconds: float | None = None) -> list[int]:
        return []


UNSHARED: Final = UnsharedNumbers()


def shared_by(processes: int) -> ReportedNumbers:
    """Return the numbers of this number of serving processes, before they are forked."""
    return SharedNumbers(processes) if processes > 1 else UNSHARED


class SharedNumbers:
    """The numbers of at most `processes` processes. Create it before the fork; then each calls `join`.

    Each process has one event loop, whose thread alone calls `put` and `of_others`.
    """

    def __init__(self, processes: int, clock: Callable[[], int] = time.monotonic_ns) -> None:
        # During a reload, the processes that end are still there when the next ones begin.
        self._rows = 2 * processes
        self._clock = clock
        self._own = NO_ROW
        # So that no client can choose names with neighbouring entries.
        self._secret = os.urandom(16)
        # The processes that have rows, each with its row.
        self._holders = memoryview(mmap.mmap(-1, self._rows * _WORD_BYTES)).cast("q")
        self._entries = memoryview(mmap.mmap(-1, self._rows * ENTRIES * _WORDS * _WORD_BYTES)).cast("q")
        # Locked only while a process takes its row; the lock of a process that is killed is released.
        self._rows_file = os.memfd_create("labledger-rows")

    def join(self) -> None:
        """Take an empty row. Without one, the other processes do not count this one."""
        # Opened anew, because forked processes share the lock of an inherited file.
        with Path(f"/proc/self/fd/{self._rows_file}").open("rb") as file:
            LockClass.SERVING_ROWS.lock_file(file, wait=True)
            self._own = next((row for row in range(self._rows) if not self._holders[row]), NO_ROW)
            if self._own == NO_ROW:
                logger.warning("%d processes share bounds; they do not count this one", self._rows)
                return
            self._clear(self._own)
            self._holders[self._own] = os.getpid()

    def leave(self, pid: int) -> None:
        """Give back the row of a process that has ended; called in the process that has forked it."""
        for row in range(self._rows):
            if self._holders[row] == pid:
                self._clear(row)
                self._holders[row] = 0

    def _clear(self, row: int) -> None:
        first, size = row * ENTRIES * _WORDS, ENTRIES * _WORDS
        self._entries[first : first + size] = memoryview(bytes(size * _WORD_BYTES)).cast("q")

    def put(self, key: str, number: int) -> None:
        if self._own == NO_ROW:
            return
        hashed = self._hashed(key)
        places = self._places(self._own, hashed)
        at = next((at for at in places if self._entries[at] == hashed), None)
        if at is None:
            # An empty entry, one without a number, or the oldest one.
            # Readers take no lock, so the hash comes last.
            at = min(places, key=lambda at: (self._entries[at + 1] != 0, self._entries[at + 2]))
            self._entries[at] = 0
        self._entries[at + 1] = number
        self._entries[at + 2] = self._clock()
        self._entries[at] = hashed

    def of_others(self, key: str, seconds: float | None = None) -> list[int]:
        hashed, since = self._hashed(key), 0 if seconds is None else self._clock() - int(seconds * 1e9)
        others = (row for row in range(self._rows) if row != self._own and self._holders[row])
        found = (
            (self._entries[at + 1], at)
            for row in others
            for at in self._places(row, hashed)
            if self._entries[at] == hashed and self._entries[at + 2] > since
        )
        # The entry may have got another key meanwhile.
        return [number for number, at in found if number and self._entries[at] == hashed]

    def _places(self, row: int, hashed: int) -> range:
        first = (row * ENTRIES + hashed % (ENTRIES - PROBES)) * _WORDS
        return range(first, first + PROBES * _WORDS, _WORDS)

    def _hashed(self, key: str) -> int:
        """Return a number for a key, the same in all processes, and never 0, which marks an empty entry."""
        return int.from_bytes(blake2b(key.encode(), digest_size=7, key=self._secret).digest()) + 1
