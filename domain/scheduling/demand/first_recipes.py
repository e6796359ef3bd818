"""The filters of one line, ordered by their first recipes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

from domain.priority import Priority
from domain.scheduling.bitsets.bit_sliced import BitSlicedNumbers
from domain.scheduling.bitsets.bitmaps import numbers_in
from domain.scheduling.ranked import Rank

HIGHEST: Final = int(max(Priority))
EVERY_NOMINAL: Final = tuple(map(int, reversed(Priority)))

FirstOfFilter = tuple[Rank, int]
"""The rank of the first recipe of a filter, and the number of the filter."""


class FirstRecipes:
    """The first recipe of each filter. Mutable; filters are given by number.

    A caller searches a few of the filters, and mostly needs only the first recipe of these. Bit-sliced
    submissions find that recipe without visiting the recipes of other filters.
    """

    def __init__(self, first: Mapping[int, Rank] = MappingProxyType({})) -> None:
        # Bitmaps of filters by the nominal priority of their first recipe.
        self.nominal = [0] * (HIGHEST + 1)
        self._first = dict(first)
        for number, rank in first.items():
            self.nominal[-rank.negative_priority] |= 1 << number
        self._submission = BitSlicedNumbers({number: rank.submission for number, rank in first.items()})
        # The submissions that remain in `_submission` for filters that have lost their last recipe.
        self._left: dict[int, int] = {}

    def __bool__(self) -> bool:
        return bool(self._first)

    def put(self, number: int, first: Rank | None) -> None:
        """Set the first recipe of a filter, or None if it has no recipe any more."""
        before = self._first.get(number)
        if first == before:
            return
        if before is not None:
            self.nominal[-before.negative_priority] ^= 1 << number
        if first is None:
            assert before is not None, "the filter had a recipe"
            del self._first[number]
            self._left[number] = before.submission
            return
        self._first[number] = first
        self.nominal[-first.negative_priority] ^= 1 << number
        was = self._left.pop(number, 0) if before is None else before.submission
        self._submission.change(number, was, first.submission)

    def first(self, number: int) -> Rank | None:
        return self._first.get(number)

    def ordered(self, among: int) -> Iterator[FirstOfFilter]:
        """Yield the filters of a bitmap in the rank order of their first recipes."""
        for nominal in EVERY_NOMINAL:
            left = among & self.nominal[nominal]
            if left:
                yield from self.of_one_priority(left)

    def of_one_priority(self, left: int) -> Iterator[FirstOfFilter]:
        """Yield the filters of a bitmap by submission of their first recipes, all of one nominal priority."""
        while left:
            together = self._submission.least(left)
            left ^= together
            if together & together - 1:
                # Several recipes of one set, which have the same submission.
                yield from sorted((self._first[number], number) for number in numbers_in(together))
            else:
                number = together.bit_length() - 1
                yield self._first[number], number
