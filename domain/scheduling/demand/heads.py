"""The first recipes of groups, by filter and submitter: what a search of a line compares."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from domain.scheduling.bitsets.bitmaps import union
from domain.scheduling.demand.first_recipes import FirstRecipes
from domain.scheduling.demand.submitters import Order
from domain.scheduling.ranked import Rank

NOBODY: Mapping[int, Sequence[Rank]] = {}


class First(NamedTuple):
    """The first recipe of a filter and submitter."""

    rank: Rank
    number: int
    submitter: int


class Answer(NamedTuple):
    """The first recipe of a search with these filters, in this order, up to the set of `until`."""

    filters: int
    order: Order
    until: Rank | None
    first: First

    def answers(self, filters: int, order: Order, until: Rank | None) -> bool:
        """Return whether another search has the same first recipe; it may have fewer filters."""
        return (
            (self.order is order or self.order == order)
            and self.until == until
            and (self.filters == filters or self._is_first_of(filters))
        )

    def _is_first_of(self, filters: int) -> bool:
        return bool(filters >> self.first.number & 1) and not filters & ~self.filters


class Heads:
    """The first recipes of groups that weigh the same. Mutable; `filters` is the bitmap of their filters.

    `count` is the number of groups.

    `first_recipes` has the first recipe of each filter over all submitters, `first_by_submitter` that of each
    submitter. While all recipes have one submitter, `only`, `first_by_submitter` is empty. `answer` is the
    last answer of a search, until a recipe here changes.
    """

    def __init__(self, heads: Iterable[First] = ()) -> None:
        # Sorted lists, because few groups of one filter weigh the same.
        self.recipes: dict[int, list[Rank]] = {}
        self._by_submitter: dict[int, dict[int, list[Rank]]] = {}
        self.count = 0
        for rank, number, submitter in sorted(heads):
            self.count += 1
            self.recipes.setdefault(number, []).append(rank)
            self._by_submitter.setdefault(number, {}).setdefault(submitter, []).append(rank)
        self.filters = union(1 << number for number in self.recipes)
        self.first_recipes = FirstRecipes({number: ranks[0] for number, ranks in self.recipes.items()})
        self.answer: Answer | None = None
        self.only: int | None = None
        self.first_by_submitter: dict[int, FirstRecipes] = {}
        submitters = dict.fromkeys(chain.from_iterable(self._by_submitter.values()))
        if len(submitters) == 1:
            self.only = next(iter(submitters))
            self._by_submitter.clear()
        for submitter in submitters if self.only is None else ():
            firsts = (
                (number, ranks[submitter][0])
                for number, ranks in self._by_submitter.items()
                if submitter in ranks
            )
            self.first_by_submitter[submitter] = FirstRecipes(dict(firsts))

    def replace(self, number: int, submitter: int, before: Rank | None, after: Rank | None) -> None:
        """Replace the first recipe of a group: `before` is None if it is new, `after` if it ends."""
        self.answer = None
        self.count += (after is not None) - (before is not None)
        if not self.filters:
            self.only = submitter
        elif self.only is not None and self.only != submitter:
            self._index_by_submitter(self.only)
        first = _replaced(self.recipes, number, before, after)
        self.first_recipes.put(number, first)
        if first is None:
            self.filters &= ~(1 << number)
        elif before is None:
            self.filters |= 1 << number
        if self.only is None:
            self._replace(number, submitter, before, after)

    def add_all(self, heads: Iterable[First]) -> None:
        """Add the first recipes of groups, whose filters and submitters have no equal group here."""
        for head, number, submitter in heads:
            if self.only != submitter:
                self.replace(number, submitter, None, head)
                continue
            self.count += 1
            ranks = self.recipes.get(number)
            if ranks is None:
                self.recipes[number] = [head]
                self.filters |= 1 << number
                self.first_recipes.put(number, head)
            elif head < ranks[0]:
                ranks.insert(0, head)
                self.first_recipes.put(number, head)
            else:
                insort(ranks, head)
        self.answer = None

    def remove_all(self, heads: Iterable[First]) -> None:
        """Remove the first recipes of groups."""
        for head, number, submitter in heads:
            if self.only != submitter:
                self.replace(number, submitter, head, None)
                continue
            self.count -= 1
            ranks = self.recipes[number]
            if ranks[0] != head:
                del ranks[bisect_left(ranks, head)]
            elif len(ranks) > 1:
                del ranks[0]
                self.first_recipes.put(number, ranks[0])
            else:
                del self.recipes[number]
                self.filters ^= 1 << number
                self.first_recipes.put(number, None)
        self.answer = None

    def _replace(self, number: int, submitter: int, before: Rank | None, after: Rank | None) -> None:
        of_filter = self._by_submitter.setdefault(number, {})
        if submitter not in self.first_by_submitter:
            self.first_by_submitter[submitter] = FirstRecipes()
        firsts = self.first_by_submitter[submitter]
        firsts.put(number, _replaced(of_filter, submitter, before, after))
        if not of_filter:
            del self._by_submitter[number]
        if not firsts:
            del self.first_by_submitter[submitter]

    def _index_by_submitter(self, only: int) -> None:
        self.only = None
        for number, ranked in self.recipes.items():
            for head in ranked:
                self._replace(number, only, None, head)

    def by_submitter(self, number: int) -> Mapping[int, Sequence[Rank]]:
        if self.only is None:
            return self._by_submitter.get(number, NOBODY)
        return {self.only: self.recipes[number]} if number in self.recipes else NOBODY


def _replaced(
    by_key: dict[int, list[Rank]], key: int, before: Rank | None, after: Rank | None
) -> Rank | None:
    """Replace a rank in the list of a key; return the first rank of the list, None if the list is empty."""
    ranks = by_key.get(key)
    if ranks is None:
        ranks = by_key[key] = []
    if before is not None:
        del ranks[bisect_left(ranks, before)]
    if after is not None:
        insort(ranks, after)
    elif not ranks:
        del by_key[key]
        return None
    return ranks[0]
