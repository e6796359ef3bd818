"""Bit-sliced numbers: a value for each system, such that one step changes or compares many values."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from domain.scheduling.bitsets.bitmaps import numbers_in


class BitSlicedNumbers:
    """Values (integers) by system, initially 0; plane k has the systems whose value has bit k. Mutable."""

    def __init__(self, values: Mapping[int, int] = MappingProxyType({})) -> None:
        digits = max(values.values(), default=0).bit_length()
        # One step for each set bit, where a union of bitmaps would take one for each system of the lab.
        planes = [bytearray(max(values, default=0) // 8 + 1) for _ in range(digits)]
        for system, value in values.items():
            byte, bit, digit = system >> 3, 1 << (system & 7), 0
            while value:
                if value & 1:
                    planes[digit][byte] |= bit
                value >>= 1  # noqa: PLW2901  (the digits go down)
                digit += 1
        self._planes = [int.from_bytes(plane, "little") for plane in planes]

    def add(self, systems: int, amount: int) -> None:
        """Add `amount` (not negative) to the value of each of the systems."""
        for digit in numbers_in(amount):
            carry = systems
            while carry:
                while len(self._planes) <= digit:
                    self._planes.append(0)
                plane = self._planes[digit]
                self._planes[digit], carry = plane ^ carry, plane & carry
                digit += 1  # noqa: PLW2901  (the carry moves up)

    def subtract(self, systems: int, amount: int) -> None:
        """Subtract `amount` from the value of each of the systems; no value may be smaller."""
        for digit in numbers_in(amount):
            borrow = systems
            while borrow:
                plane = self._planes[digit]
                self._planes[digit] = plane = plane ^ borrow
                # Systems whose bit was 0 have it set now, and borrow. `& ~` of the old plane would be slower.
                borrow &= plane
                digit += 1  # noqa: PLW2901  (the borrow moves up)

    def put(self, system: int, value: int) -> None:
        bit = 1 << system
        keep = ~bit
        self._planes += [0] * (value.bit_length() - len(self._planes))
        self._planes = [
            plane | bit if value >> digit & 1 else plane & keep for digit, plane in enumerate(self._planes)
        ]

    def change(self, system: int, before: int, after: int) -> None:
        """Change the value of one system from `before` to `after`; only the bits that differ cost time."""
        bit, digit, differs = 1 << system, 0, before ^ after
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
        """Subtract the values of `other`, system by system; no value may be smaller."""
        borrow = 0
        for digit, plane in enumerate(self._planes):
            less = other._planes[digit] if digit < len(other._planes) else 0
            self._planes[digit] = plane ^ less ^ borrow
            borrow = ~plane & (less | borrow) | less & borrow

    def total(self, among: int) -> int:
        """Return the sum of the values of the systems `among`."""
        total, weight = 0, 1
        # A loop, because this is called for every system of a lab and a generator would take twice as long.
        for plane in self._planes:
            total += weight * (among & plane).bit_count()
            weight += weight
        return total

    def value(self, system: int) -> int:
        return sum((plane >> system & 1) << digit for digit, plane in enumerate(self._planes))

    def least(self, among: int) -> int:
        """Return the systems of `among` that have the least value."""
        for plane in reversed(self._planes):
            larger = among & plane
            if larger and larger != among:
                among ^= larger
        return among
