"""Signatures: for each system, the bitmap of the evaluated filters that it fits."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from domain.scheduling.bitsets.bitmaps import WORD, numbers_in, transposed, union


class Signatures:
    """Signatures by system. Mutable.

    Filters accumulate until a query needs them, because many at a time cost little more than one.
    """

    def __init__(self) -> None:
        self._of = defaultdict[int, int](int)
        self._waiting: dict[int, int] = {}
        # Invalidated filters whose bits are still set in the signatures.
        self._gone = 0

    def add(self, number: int, systems: int) -> None:
        """Set the systems that fit a filter."""
        self._waiting[number] = systems
        if len(self._waiting) >= WORD:
            # A query must not wait for thousands of filters.
            self._write()

    def remove(self, number: int) -> None:
        """Invalidate a filter."""
        self._waiting.pop(number, None)
        self._gone |= 1 << number

    def replace(self, systems: int, filters: int, viable: Mapping[int, int], before: int) -> None:
        """Set the signatures of some systems for some filters: by filter, system numbers less `before`."""
        self._write()
        found = transposed(viable)
        for system in numbers_in(systems):
            self._of[system] = self._of[system] & ~filters | found.get(system - before, 0)

    def restore(self, signatures: Iterable[int]) -> None:
        """Restore the signatures of all systems, by number; nothing was added yet."""
        self._of.update(enumerate(signatures))

    def of(self, system: int) -> int:
        self._write()
        signature = self._of[system]
        return signature & ~self._gone if self._gone else signature

    def _write(self) -> None:
        if not self._waiting:
            return
        rows, self._waiting = self._waiting, {}
        if self._gone & union(1 << number for number in rows):
            for system, signature in self._of.items():
                self._of[system] = signature & ~self._gone
            self._gone = 0
        for system, signature in transposed(rows).items():
            self._of[system] |= signature
