"""Who stands in one line: the queue, or those of a lab that were assigned to it."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

from domain.scheduling.heads import Heads, Rank
from domain.scheduling.ranked import Ranked


class Line:
    """Mutable. Recipes by the number of their filter, then that of their who; `filters` as a bitmap.

    `heads` are the first recipes of each filter, whoever's they are; `of_who` those of each who.
    """

    def __init__(self) -> None:
        self.filters = 0
        self.recipes: dict[int, dict[int, Ranked[Rank]]] = {}
        self.heads = Heads()
        self.of_who: dict[int, Heads] = {}

    def add(self, number: int, who: int, *ranks: Rank) -> None:
        self.filters |= 1 << number
        of_filter = self.recipes.setdefault(number, {})
        ranked = of_filter.get(who)
        if ranked is None:
            ranked = of_filter[who] = Ranked(ranks)
        else:
            for rank in ranks:
                ranked.add(rank)
        first = ranked.first()
        if who not in self.of_who:
            self.of_who[who] = Heads()
        self.of_who[who].put(number, first)
        before = self.heads.first(number)
        if before is None or (first is not None and first < before):
            self.heads.put(number, first)

    def discard(self, number: int, who: int, rank: Rank) -> None:
        of_filter = self.recipes[number]
        ranked, heads = of_filter[who], self.of_who[who]
        ranked.discard(rank)
        if not len(ranked):
            del of_filter[who]
        if heads.first(number) == rank:
            heads.put(number, ranked.first())
            if not heads:
                del self.of_who[who]
        if self.heads.first(number) == rank:
            self.heads.put(number, _first_of(of_filter.values()))
        if not of_filter:
            del self.recipes[number]
            self.filters &= ~(1 << number)

    def of(self, number: int) -> Iterable[Rank]:
        """The recipes with a filter, whoever's."""
        return chain.from_iterable(self.recipes.get(number, {}).values())


def _first_of(alike: Iterable[Ranked[Rank]]) -> Rank | None:
    return min((first for each in alike if (first := each.first()) is not None), default=None)
