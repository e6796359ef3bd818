"""The filters that recipes of one line have, in the order of their first recipes."""

from __future__ import annotations

import heapq
from bisect import bisect_left, insort
from collections.abc import Callable, Iterable, Iterator

from domain.scheduling.bitmaps import numbers_in
from domain.scheduling.ranked import Ranked

Rank = tuple[int, ...]

Head = tuple[Rank, int]
"""The first recipe of a filter, and the number of the filter."""

# So many are put in order for a question; of more, the list of all has one of them soon.
FEW = 256


class Heads:
    """Mutable; filters go by the numbers of their entries. `numbers` is the bitmap of them."""

    def __init__(self) -> None:
        self.numbers = 0
        self._first: dict[int, Rank] = {}
        self._sorted: list[Head] = []

    def put(self, number: int, first: Rank | None) -> None:
        """Its first recipe is this one now; None: it has none any more."""
        before = self._first.pop(number, None)
        if before is not None:
            del self._sorted[bisect_left(self._sorted, (before, number))]
            self.numbers &= ~(1 << number)
        if first is not None:
            self._first[number] = first
            insort(self._sorted, (first, number))
            self.numbers |= 1 << number

    def first(self, number: int) -> Rank | None:
        return self._first.get(number)

    def __iter__(self) -> Iterator[int]:
        """Their numbers, while nothing changes."""
        return (number for _, number in self._sorted)

    def merged(self, among: int, recipes: Callable[[int], Ranked[Rank]]) -> Iterator[Rank]:
        """The recipes of those filters that are in a bitmap, in one order, while nothing changes."""
        begun: list[tuple[Rank, Iterator[Rank]]] = []
        for first, number in self._in_order(among & self.numbers):
            while begun and begun[0][0] < first:
                yield _next(begun)
            ranks = iter(recipes(number))
            heapq.heappush(begun, (next(ranks), ranks))
        while begun:
            yield _next(begun)

    def _in_order(self, among: int) -> Iterable[Head]:
        if among.bit_count() > FEW:
            return (head for head in self._sorted if among >> head[1] & 1)
        return sorted((self._first[number], number) for number in numbers_in(among))


def _next(begun: list[tuple[Rank, Iterator[Rank]]]) -> Rank:
    rank, ranks = begun[0]
    following = next(ranks, None)
    if following is None:
        heapq.heappop(begun)
    else:
        heapq.heapreplace(begun, (following, ranks))
    return rank
