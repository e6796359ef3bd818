"""The recipes of a line in the order of a system: effective priority, nominal, submission (5.2).

Recipes with the same filter, of the same who, keep one order on every system. So only the first of each are
compared; and mostly it is enough to find the first of those.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from domain.scheduling.bitsets.bitmaps import union
from domain.scheduling.bitsets.effort import Effort
from domain.scheduling.demand.heads import Rank
from domain.scheduling.demand.lines import Line
from domain.scheduling.demand.whos import Order

WHOEVER: Final = -1
"""In the place of the number of a who."""

# So few are asked one by one for their first recipe; of more, the first recipes of all say who is asked.
FEW: Final = 3
# Where as many filters have recipes of others before, each who is asked all the same.
MOST_TRIES: Final = 4


Place = tuple[int, ...]
"""The place of a recipe on a system: negative effective priority, then its rank. Lines compare by it."""


class First(NamedTuple):
    """The first recipe of a filter and who."""

    rank: Rank
    number: int
    who: int


class Begun(NamedTuple):
    """The next recipe of those of which the first was taken: its place on this system, and those behind."""

    place: Place
    maximum: int
    behind: Iterator[Rank]


class Left(NamedTuple):
    """Of a who, the filters that are still to be asked for."""

    who: int
    filters: int


def in_order(line: Line, filters: int, order: Order, effort: Effort) -> Iterator[Place]:
    """Those with these filters, while nothing changes."""
    begun: list[Begun] = []
    for first in _firsts(line, filters, order):
        effort.rows += 1
        maximum = order.maxima[(line.only or 0) if first.who == WHOEVER else first.who]
        place = _place(first.rank, maximum)
        while begun and begun[0].place < place:
            yield _next(begun)
        # Mostly that is enough: who asks no further has looked at one alone.
        yield place
        _begin(begun, maximum, _behind(line, first))
    while begun:
        yield _next(begun)


def _firsts(line: Line, filters: int, order: Order) -> Iterator[First]:
    if not order.same_for_all and line.only is None:
        for step in order.steps:
            yield from _of_step(line, filters, step.nominal, step.whos)
    elif order.maxima[line.only or 0]:
        yield from (First(rank, number, WHOEVER) for rank, number in line.heads.in_order(filters))


def _of_step(line: Line, filters: int, nominal: int, whos: Sequence[int]) -> Iterator[First]:
    """First recipes of one nominal priority, by submission."""
    there = [
        Left(who, left)
        for who in whos
        if who in line.of_who and (left := filters & line.of_who[who].nominal[nominal])
    ]
    if not there:
        return
    soonest = _soonest(line, there) if len(there) > FEW else None
    if soonest is not None:
        yield soonest
    for first in heapq.merge(*(_of_one(line, *left) for left in there)):
        if first != soonest:
            yield first


def _of_one(line: Line, who: int, filters: int) -> Iterator[First]:
    return (First(rank, number, who) for rank, number in line.of_who[who].of_one_priority(filters))


def _soonest(line: Line, there: Sequence[Left]) -> First | None:
    """The first of them all, found by the first recipes of filters, whoever's: none of them is sooner.

    None where it would take longer than to ask each.
    """
    best: First | None = None
    heads = line.heads.in_order(union(left.filters for left in there))
    for _, (bound, number) in zip(range(MOST_TRIES), heads, strict=False):
        if best is not None and best.rank < bound:
            return best
        of_filter = line.by_who(number)
        first = min(
            First(rank, number, left.who)
            for left in there
            if left.filters >> number & 1 and (rank := of_filter[left.who].first()) is not None
        )
        best = first if best is None else min(best, first)
        if best.rank == bound:
            return best
    return None


def _behind(line: Line, first: First) -> Iterator[Rank]:
    """All that have the filter, from the first on."""
    if first.who == WHOEVER:
        return iter(line.recipes[first.number])
    return iter(line.by_who(first.number)[first.who])


def _place(rank: Rank, maximum: int) -> Place:
    """Where it stands on a system: effective priority first, which is the lower of nominal and maximum."""
    return max(rank[0], -maximum), *rank


def _begin(begun: list[Begun], maximum: int, ranks: Iterator[Rank]) -> None:
    """Behind the first, which was taken already."""
    next(ranks)
    following = next(ranks, None)
    if following is not None:
        heapq.heappush(begun, Begun(_place(following, maximum), maximum, ranks))


def _next(begun: list[Begun]) -> Place:
    place, maximum, ranks = begun[0]
    following = next(ranks, None)
    if following is None:
        heapq.heappop(begun)
    else:
        heapq.heapreplace(begun, Begun(_place(following, maximum), maximum, ranks))
    return place
