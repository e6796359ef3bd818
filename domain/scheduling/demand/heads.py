"""The first recipes of groups, by filter and submitter: what a search of a line compares."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from domain.scheduling.demand.first_recipes import FirstRecipes
from domain.scheduling.ranked import Rank

NOBODY: Mapping[int, Sequence[Rank]] = {}


class First(NamedTuple):
    """The first recipe of a filter and submitter."""

    rank: Rank
    number: int
    submitter: int


class Heads:
    """The first recipes of groups that weigh the same. Mutable; `filters` is the bitmap of their filters.

    `first_recipes` has the first recipe of each filter over all submitters, `first_by_submitter` that of each
    submitter. While all recipes have one submitter, `only`, `first_by_submitter` is empty. `answer` is the
    last question of a search, and its first recipe, until a recipe here changes.
    """

    def __init__(self) -> None:
        self.filters = 0
        # Sorted lists, because few groups of one filter weigh the same.
        self.recipes: dict[int, list[Rank]] = {}
        self.first_recipes = FirstRecipes()
        self.only: int | None = None
        self.answer: tuple[tuple[object, ...], First] | None = None
        self.first_by_submitter: dict[int, FirstRecipes] = {}
        self._by_submitter: dict[int, dict[int, list[Rank]]] = {}

    def replace(self, number: int, submitter: int, before: Rank | None, after: Rank | None) -> None:
        """Replace the first recipe of a group: `before` is None if it is new, `after` if it ends."""
        self.answer = None
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
