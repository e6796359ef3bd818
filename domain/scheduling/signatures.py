"""By system, which of the evaluated filters it is viable for: its signature, a bitmap of their numbers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from domain.scheduling.bitmaps import WORD, numbers_in, transposed


class Signatures:
    """Mutable. Many filters at a time cost little more than one: they wait until somebody asks."""

    def __init__(self) -> None:
        self._of = defaultdict[int, int](int)
        self._waiting: dict[int, int] = {}

    def add(self, number: int, systems: int) -> None:
        """The filter of this number is viable for these systems alone."""
        self._waiting[number] = systems
        if len(self._waiting) >= WORD:
            # Nobody is to wait for thousands at once.
            self._write()

    def remove(self, number: int, systems: int) -> None:
        """It is not known any more that the filter is viable for these."""
        self._write()
        for system in numbers_in(systems):
            self._of[system] &= ~(1 << number)

    def put(self, system: int, filters: int) -> None:
        """The system is viable for these filters alone."""
        self._write()
        self._of[system] = filters

    def restore(self, signatures: Iterable[int]) -> None:
        """Those of all systems, by number; nothing was added yet."""
        self._of.update(enumerate(signatures))

    def of(self, system: int) -> int:
        self._write()
        return self._of[system]

    def _write(self) -> None:
        if self._waiting:
            rows, self._waiting = self._waiting, {}
            for system, signature in transposed(rows).items():
                self._of[system] |= signature
