"""Bit-sliced numbers: a number for each system, such that one step changes or compares many of them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from domain.scheduling.bitsets.bitmaps import numbers_in, union


class BitSlicedNumbers:
    """Natural numbers by system, initially 0; plane k has the systems whose number has bit k. Mutable."""

    def __init__(self, values: Mapping[int, int] = MappingProxyType({})) -> None:
        digits = max(values.values(), default=0).bit_length()
        self._planes = [
            union(1 << number for number, value in values.items() if value >> digit & 1)
            for digit in range(digits)
        ]

    def add(self, members: int, amount: int) -> None:
        """Add `amount` (not negative) to the number of every member."""
        for digit in numbers_in(amount):
            carry = members
            while carry:
                while len(self._planes) <= digit:
                    self._planes.append(0)
                plane = self._planes[digit]
                self._planes[digit], carry = plane ^ carry, plane & carry
                digit += 1  # noqa: PLW2901  (the carry moves up)

    def subtract(self, members: int, amount: int) -> None:
        """Subtract `amount` from the number of every member; no number may be smaller."""
        for digit in numbers_in(amount):
            borrow = members
            while borrow:
                plane = self._planes[digit]
                self._planes[digit] = plane = plane ^ borrow
                # Members whose bit was 0 have it set now and borrow. `~before` would be slower.
                borrow &= plane
                digit += 1  # noqa: PLW2901  (the borrow moves up)

    def put(self, number: int, value: int) -> None:
        bit = 1 << number
        keep = ~bit
        self._planes += [0] * (value.bit_length() - len(self._planes))
        self._planes = [
            plane | bit if value >> digit & 1 else plane & keep for digit, plane in enumerate(self._planes)
        ]

    def change(self, number: int, before: int, after: int) -> None:
        """Change the number of one system from `before` to `after`; only the bits that differ cost time."""
        bit, digit, differs = 1 << number, 0, before ^ after
        self._planes += [0] * (after.bit_length() - len(self._planes))
        while differs:
            if differs & 1:
                self._planes[digit] ^= bit
            differs >>= 1
            digit += 1

    def add_each(self, other: BitSlicedNumbers) -> None:
        self._planes += [0] * (len(other._planes) - len(self._planes))
        carry = 0
        for digit, plane in enumerate(self._planes):
            more = other._planes[digit] if digit < len(other._planes) else 0
            self._planes[digit] = plane ^ more ^ carry
            carry = plane & more | carry & (plane ^ more)
        if carry:
            self._planes.append(carry)

    def subtract_each(self, other: BitSlicedNumbers) -> None:
        """Subtract the numbers of `other`, system by system; no number may be smaller."""
        borrow = 0
        for digit, plane in enumerate(self._planes):
            less = other._planes[digit] if digit < len(other._planes) else 0
            self._planes[digit] = plane ^ less ^ borrow
            borrow = ~plane & (less | borrow) | less & borrow

    def total(self, among: int) -> int:
        total, weight = 0, 1
        # A loop, because this is called for every system of a lab and a generator would take twice as long.
        for plane in self._planes:
            total += weight * (among & plane).bit_count()
            weight += weight
        return total

    def value(self, number: int) -> int:
        return sum((plane >> number & 1) << digit for digit, plane in enumerate(self._planes))

    def least(self, among: int) -> int:
        """Return the systems of `among` whose number is the smallest."""
        for plane in reversed(self._planes):
            larger = among & plane
            if larger and larger != among:
                among ^= larger
        return among
