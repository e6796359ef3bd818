"""The systems with each value of a property.

A bitmap for each name in a lab would take memory that grows with the square of the number of systems, so the
single system of a value is stored as a number.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from functools import reduce


class ValueHolders(Mapping[Hashable, int]):
    """The bitmap of the systems with each value (bit n: system n). Mutable."""

    def __init__(self, systems: Mapping[Hashable, list[int]]) -> None:
        # The bitmap of several systems, or ~n for system n alone.
        self._stored = {
            value: ~numbers[0] if len(numbers) == 1 else bitmap_of(numbers)
            for value, numbers in systems.items()
        }

    def __getitem__(self, value: Hashable) -> int:
        stored = self._stored[value]
        return stored if stored >= 0 else 1 << ~stored

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self._stored)

    def __len__(self) -> int:
        return len(self._stored)

    def add(self, value: Hashable, system: int) -> None:
        """Add a system to those with a value."""
        self._stored[value] = self[value] | 1 << system if value in self._stored else ~system

    def drop(self, value: Hashable, system: int) -> None:
        """Remove a system from those with a value. Raises KeyError if no system has it."""
        left = self[value] & ~(1 << system)
        if not left:
            del self._stored[value]
        elif left.bit_count() == 1:
            self._stored[value] = ~(left.bit_length() - 1)
        else:
            self._stored[value] = left

    def union(self, values: Iterable[Hashable]) -> int:
        """Return the systems with any of these values."""
        stored = [self._stored[value] for value in values]
        alone = bitmap_of([~each for each in stored if each < 0])
        return reduce(int.__or__, (each for each in stored if each >= 0), alone)


def bitmap_of(numbers: list[int]) -> int:
    """Return the bitmap of numbers."""
    if len(numbers) == 1:
        return 1 << numbers[0]
    digits = bytearray(max(numbers, default=-1) // 8 + 1)
    for number in numbers:
        digits[number >> 3] |= 1 << (number & 7)
    return int.from_bytes(digits, "little")
