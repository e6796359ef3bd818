"""Signatures: for each system, the bitmap of the evaluated filters that it fits.

They are stored in lanes of eight filters. A lane has a byte for each system, so a signature has one byte of
each lane. A new filter costs some operations on whole bitmaps, no matter how many systems fit it, and only
when a signature is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Final, Protocol

from domain.scheduling.bitsets.bitmaps import BYTE, interleaved, numbers_in, transposed

# If more than one in this number of systems has changed, the lane is recomputed: setting single bytes would
# cost as much.
_SYSTEMS_A_CHANGE: Final = 64


class HasFitting(Protocol):
    """A filter with the bitmap of the systems that fit it, None unless it is evaluated."""

    @property
    def fitting(self) -> int | None: ...


class Signatures:
    """Signatures by system. Mutable. `filter_at` returns the present filter with a number, if any."""

    def __init__(self, filter_at: Callable[[int], HasFitting | None]) -> None:
        self._filter_at = filter_at
        # A lane has eight planes of this number of bytes: plane n has every eighth system, from system n on.
        self._plane_bytes = 0
        self._lanes: list[bytearray] = []
        # The lanes with a filter that was evaluated or removed since the last query.
        self._outdated: dict[int, None] = {}

    def invalidate(self, number: int) -> None:
        """Mark the lane of a filter, which was evaluated or removed, as outdated."""
        self._outdated[number // BYTE] = None

    def replace(self, systems: int, filters: int, viable: Mapping[int, int], before: int) -> None:
        """Set the bits of filters for some systems; in `viable`, numbers are reduced by `before`."""
        lanes = dict.fromkeys(number // BYTE for number in numbers_in(filters))
        is_beyond = systems.bit_length() > BYTE * self._plane_bytes
        if is_beyond or systems.bit_count() * _SYSTEMS_A_CHANGE > BYTE * self._plane_bytes:
            self._outdated.update(lanes)
            return
        size = filters.bit_length() // BYTE + 1
        changed = filters.to_bytes(size, "little")
        found = transposed(viable)
        for system in numbers_in(systems):
            index = self._index(system)
            signature = found.get(system - before, 0).to_bytes(size, "little")
            for number in lanes:
                if number not in self._outdated:
                    lane = self._lanes[number]
                    lane[index] = lane[index] & ~changed[number] | signature[number]

    def of(self, system: int) -> int:
        self._catch_up()
        if system >= BYTE * self._plane_bytes:
            return 0
        return int.from_bytes(map(itemgetter(self._index(system)), self._lanes), "little")

    def each(self, systems: int) -> Iterator[tuple[int, int]]:
        """Yield each of the systems with its signature."""
        return ((system, self.of(system)) for system in numbers_in(systems))

    def _index(self, system: int) -> int:
        """Return the place of a system in each lane."""
        return system % BYTE * self._plane_bytes + system // BYTE

    def _catch_up(self) -> None:
        """Recompute the outdated lanes."""
        if not self._outdated:
            return
        numbers = range(BYTE)
        rows = {lane: [self._fitting(BYTE * lane + number) for number in numbers] for lane in self._outdated}
        count = max(len(self._lanes), *(lane + 1 for lane in rows))
        systems = max(row.bit_length() for each in rows.values() for row in each)
        if systems > BYTE * self._plane_bytes:
            # Twice as much as needed, so that a growing lab seldom recomputes all lanes.
            self._plane_bytes = 2 * (systems // BYTE + 1)
            self._outdated = dict.fromkeys(range(count))
            self._catch_up()
            return
        self._lanes += [bytearray(BYTE * self._plane_bytes) for _ in range(len(self._lanes), count)]
        for lane, bitmaps in rows.items():
            self._lanes[lane] = self._lane(bitmaps)
        self._outdated.clear()

    def _lane(self, bitmaps: Sequence[int]) -> bytearray:
        """Return the lane of eight filters with these fitting systems."""
        planes = interleaved(bitmaps, self._plane_bytes)
        return bytearray().join(plane.to_bytes(self._plane_bytes, "little") for plane in planes)

    def _fitting(self, number: int) -> int:
        entry = self._filter_at(number)
        return 0 if entry is None else entry.fitting or 0
