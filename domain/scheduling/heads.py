"""The filters that recipes of one line have, in the order of their first recipes."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from typing import Final

from domain.priority import Priority
from domain.scheduling.bitmaps import numbers_in
from domain.scheduling.planes import Planes
from domain.scheduling.ranked import Ranked

Rank = tuple[int, ...]
"""Negative priority, submission, and what decides between recipes of one set."""

HIGHEST: Final = int(max(Priority))

Head = tuple[Rank, int]
"""The first recipe of a filter, and the number of the filter."""


class Heads:
    """Mutable; filters go by the numbers of their entries. `numbers` is the bitmap of them.

    Whoever asks has some of them in mind, of which mostly the first will do: it is found by the digits of all
    ranks at once, however many stand before it.
    """

    def __init__(self) -> None:
        self.numbers = 0
        self._first: dict[int, Rank] = {}
        self._urgency = Planes()
        self._submission = Planes()

    def put(self, number: int, first: Rank | None) -> None:
        """Its first recipe is this one now; None: it has none any more."""
        if first is None:
            del self._first[number]
            self.numbers &= ~(1 << number)
            return
        before = self._first.get(number)
        self._first[number] = first
        if before is None:
            # Who stood there once may have left a number behind.
            self._urgency.put(number, first[0] + HIGHEST)
            self._submission.put(number, first[1])
            self.numbers |= 1 << number
        else:
            self._urgency.change(number, before[0] + HIGHEST, first[0] + HIGHEST)
            self._submission.change(number, before[1], first[1])

    def first(self, number: int) -> Rank | None:
        return self._first.get(number)

    def __iter__(self) -> Iterator[int]:
        """Their numbers, in no order that means anything."""
        return iter(self._first)

    def merged(self, among: int, recipes: Callable[[int], Ranked[Rank]]) -> Iterator[Rank]:
        """The recipes of those filters that are in a bitmap, in one order, while nothing changes."""
        begun: list[tuple[Rank, Iterator[Rank]]] = []
        for first, number in self._in_order(among & self.numbers):
            while begun and begun[0][0] < first:
                yield _next(begun)
            ranked = recipes(number)
            # Mostly that is enough: who asks no further has looked at one head alone.
            yield first
            _begin(begun, iter(ranked))
        while begun:
            yield _next(begun)

    def _in_order(self, among: int) -> Iterator[Head]:
        while among:
            together = self._submission.least(self._urgency.least(among))
            among &= ~together
            if together & together - 1:
                # Recipes of one set that have several filters.
                yield from sorted((self._first[number], number) for number in numbers_in(together))
            else:
                number = together.bit_length() - 1
                yield self._first[number], number


def _begin(begun: list[tuple[Rank, Iterator[Rank]]], ranks: Iterator[Rank]) -> None:
    """Behind the head, which was taken already."""
    next(ranks)
    following = next(ranks, None)
    if following is not None:
        heapq.heappush(begun, (following, ranks))


def _next(begun: list[tuple[Rank, Iterator[Rank]]]) -> Rank:
    rank, ranks = begun[0]
    following = next(ranks, None)
    if following is None:
        heapq.heappop(begun)
    else:
        heapq.heapreplace(begun, (following, ranks))
    return rank
