"""Who stands in one line: the queue, or those of a lab that were assigned to it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from domain.scheduling.blocks import Blocks, Order
from domain.scheduling.effort import Effort
from domain.scheduling.heads import Heads, Rank
from domain.scheduling.ranked import Ranked


class Line:
    """Mutable. Recipes by the number of their filter, then that of their who; `filters` as a bitmap."""

    def __init__(self, blocks: Blocks, effort: Effort) -> None:
        self.filters = 0
        self.recipes: dict[int, dict[int, Ranked[Rank]]] = {}
        self._blocks = blocks
        self._effort = effort
        self._heads = Heads()

    def add(self, number: int, who: int, *ranks: Rank) -> None:
        self.filters |= 1 << number
        of_filter = self.recipes.setdefault(number, {})
        ranked = of_filter.get(who)
        if ranked is None:
            ranked = of_filter[who] = Ranked(ranks)
        else:
            for rank in ranks:
                ranked.add(rank)
        self._head(number, who, ranked.first())

    def discard(self, number: int, who: int, rank: Rank) -> None:
        of_filter = self.recipes[number]
        ranked = of_filter[who]
        was_first = ranked.first() == rank
        ranked.discard(rank)
        if was_first:
            self._head(number, who, ranked.first())
        if not len(ranked):
            del of_filter[who]
            if not of_filter:
                del self.recipes[number]
                self.filters &= ~(1 << number)

    def _head(self, number: int, who: int, first: Rank | None) -> None:
        pair = self._blocks.pair(number, who)
        if first != self._heads.first(pair):
            self._heads.put(pair, first)

    def renumber(self) -> None:
        """Pairs have other numbers now."""
        self._heads = Heads()
        for number, of_filter in self.recipes.items():
            for who, ranked in of_filter.items():
                self._head(number, who, ranked.first())

    def in_order(self, filters: int, order: Order) -> Iterator[Rank]:
        """The recipes with these filters, in the order of a system, while nothing changes."""
        return self._heads.merged(self._blocks.repeated(filters), order, self._of)

    def _of(self, pair: int) -> tuple[int, Ranked[Rank]]:
        self._effort.rows += 1
        number, who = self._blocks.apart(pair)
        return who, self.recipes[number][who]

    def of(self, number: int) -> Iterable[Rank]:
        """The recipes with a filter, whoever's."""
        return chain.from_iterable(self.recipes.get(number, {}).values())
