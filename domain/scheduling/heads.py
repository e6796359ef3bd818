"""The first recipes of one line, by filter and who, in the order in which a system asks them."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from domain.priority import Priority
from domain.scheduling.bitmaps import few_in
from domain.scheduling.blocks import Order
from domain.scheduling.planes import Planes
from domain.scheduling.ranked import Ranked

Rank = tuple[int, ...]
"""Negative priority, submission, and what decides between recipes of one set."""

HIGHEST: Final = int(max(Priority))


class Begun(NamedTuple):
    """The next recipe of a pair of which the first was taken: its place on this system, and those behind."""

    place: Rank
    maximum: int
    behind: Iterator[Rank]


class Heads:
    """Mutable; each filter of each who is a pair, by its number.

    A system has some of them in mind, of which mostly the first will do: it is found by the digits of all
    ranks at once, however many stand before it.
    """

    def __init__(self) -> None:
        self._first: dict[int, Rank] = {}
        # Bitmaps of pairs by the nominal priority of their first recipes.
        self._nominal = [0] * (HIGHEST + 1)
        self._submission = Planes()
        # What stands there of pairs that have no recipe any more.
        self._left: dict[int, int] = {}

    def put(self, pair: int, first: Rank | None) -> None:
        """Its first recipe is this one now; None: it has none any more."""
        before, bit = self._first.get(pair), 1 << pair
        if first is None:
            assert before is not None, "it had one"
            del self._first[pair]
            self._nominal[-before[0]] ^= bit
            self._left[pair] = before[1]
            return
        self._first[pair] = first
        if before is None:
            self._nominal[-first[0]] |= bit
            self._submission.change(pair, self._left.pop(pair, 0), first[1])
            return
        if before[0] != first[0]:
            self._nominal[-before[0]] ^= bit
            self._nominal[-first[0]] |= bit
        self._submission.change(pair, before[1], first[1])

    def first(self, pair: int) -> Rank | None:
        return self._first.get(pair)

    def merged(
        self, among: int, order: Order, recipes: Callable[[int], tuple[int, Ranked[Rank]]]
    ) -> Iterator[Rank]:
        """The recipes of those pairs that are in a bitmap, in the order of a system, while nothing changes.

        `recipes` are those of a pair, with the number of its who.
        """
        begun: list[Begun] = []
        for pair in self._in_order(among, order):
            first = self._first[pair]
            who, ranked = recipes(pair)
            maximum = order.maxima[who]
            place = _place(first, maximum)
            while begun and begun[0].place < place:
                yield _next(begun)
            # Mostly that is enough: who asks no further has looked at one head alone.
            yield first
            _begin(begun, maximum, iter(ranked))
        while begun:
            yield _next(begun)

    def _in_order(self, among: int, order: Order) -> Iterator[int]:
        for step in order.steps:
            left = among & self._nominal[step.nominal]
            if step.among is not None:
                left &= step.among
            while left:
                together = self._submission.least(left)
                left ^= together
                if together & together - 1:
                    # Recipes of one set that have several filters.
                    yield from sorted(few_in(together), key=self._first.__getitem__)
                else:
                    yield together.bit_length() - 1


def _place(rank: Rank, maximum: int) -> Rank:
    """Where it stands on a system: effective priority first, which is the lower of nominal and maximum."""
    return max(rank[0], -maximum), *rank


def _begin(begun: list[Begun], maximum: int, ranks: Iterator[Rank]) -> None:
    """Behind the head, which was taken already."""
    next(ranks)
    following = next(ranks, None)
    if following is not None:
        heapq.heappush(begun, Begun(_place(following, maximum), maximum, ranks))


def _next(begun: list[Begun]) -> Rank:
    place, maximum, ranks = begun[0]
    following = next(ranks, None)
    if following is None:
        heapq.heappop(begun)
    else:
        heapq.heapreplace(begun, Begun(_place(following, maximum), maximum, ranks))
    return place[1:]
