"""Signatures: for each system, the bitmap of the evaluated filters that it fits."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from domain.scheduling.bitsets.bitmaps import WORD, numbers_in, transposed, union


class Signatures:
    """Signatures by system. Mutable. Filters accumulate until a query: many cost little more than one."""

    def __init__(self) -> None:
        self._of = defaultdict[int, int](int)
        self._unwritten: dict[int, int] = {}
        # Invalidated filters whose bits may still be set in the signatures.
        self._invalid = 0

    def add(self, number: int, systems: int) -> None:
        self._unwritten[number] = systems
        if len(self._unwritten) >= WORD:
            # Otherwise a query could take as long as writing thousands of filters.
            self._write()

    def remove(self, number: int) -> None:
        self._unwritten.pop(number, None)
        self._invalid |= 1 << number

    def replace(self, systems: int, filters: int, viable: Mapping[int, int], before: int) -> None:
        """Set the bits of filters for some systems; in `viable`, numbers are reduced by `before`."""
        self._write()
        found = transposed(viable)
        for system in numbers_in(systems):
            self._of[system] = self._of[system] & ~filters | found.get(system - before, 0)

    def restore(self, signatures: Iterable[int]) -> None:
        """Restore the signatures of all systems, by number, before any `add`."""
        self._of.update(enumerate(signatures))

    def of(self, system: int) -> int:
        self._write()
        return self._of[system] & ~self._invalid

    def each(self, systems: int) -> Iterator[tuple[int, int]]:
        """Yield each of the systems with its signature."""
        return ((system, self.of(system)) for system in numbers_in(systems))

    def _write(self) -> None:
        if not self._unwritten:
            return
        rows, self._unwritten = self._unwritten, {}
        if self._invalid & union(1 << number for number in rows):
            for system, signature in self._of.items():
                self._of[system] = signature & ~self._invalid
            self._invalid = 0
        for system, signature in transposed(rows).items():
            self._of[system] |= signature
