"""Lines of recipes: queued ones, those assigned to a lab, and those newly assigned to one; with counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from domain.scheduling.bitsets.bit_sliced import BitSlicedNumbers
from domain.scheduling.demand.first_recipes import FirstRecipes
from domain.scheduling.demand.ranked import Rank, Ranked

NOBODY: Mapping[int, Ranked[Rank]] = {}


def newly_assigned_line(lab_controller: str) -> str:
    """Return the line of the newly assigned recipes of a lab, which rank with the queued ones."""
    return f"{lab_controller} newly"


class Line:
    """The recipes of a line by filter number. Mutable; `filters` is the bitmap of the filters with recipes.

    `first_recipes` has the first recipe of each filter over all submitters, `first_by_submitter` that of each
    submitter. While all recipes have one submitter, `only`, `first_by_submitter` is empty.
    """

    def __init__(self) -> None:
        self.filters = 0
        self.recipes: dict[int, Ranked[Rank]] = {}
        self.first_recipes = FirstRecipes()
        self.only: int | None = None
        self.first_by_submitter: dict[int, FirstRecipes] = {}
        self._by_submitter: dict[int, dict[int, Ranked[Rank]]] = {}
        self._recipe_counts: RecipeCounts | None = None

    def add(self, number: int, submitter: int, *ranks: Rank) -> None:
        if not self.filters:
            self.only = submitter
        elif self.only is not None and self.only != submitter:
            self._index_by_submitter(self.only)
        self.filters |= 1 << number
        self.first_recipes.put(number, _added(self.recipes, number, ranks))
        if self.only is None:
            self._add(number, submitter, ranks)
        if self._recipe_counts is not None:
            self._recipe_counts.add(number, submitter, ranks)

    def _add(self, number: int, submitter: int, ranks: Iterable[Rank]) -> None:
        first = _added(self._by_submitter.setdefault(number, {}), submitter, ranks)
        if submitter not in self.first_by_submitter:
            self.first_by_submitter[submitter] = FirstRecipes()
        self.first_by_submitter[submitter].put(number, first)

    def _index_by_submitter(self, only: int) -> None:
        self.only = None
        for number, ranked in self.recipes.items():
            self._add(number, only, ranked)

    def discard(self, number: int, submitter: int, rank: Rank) -> None:
        ranked = self.recipes[number]
        ranked.discard(rank)
        if self.first_recipes.first(number) == rank:
            self.first_recipes.put(number, ranked.first())
        if self.only is None:
            self._discard(number, submitter, rank)
        if self._recipe_counts is not None:
            self._recipe_counts.discard(number, submitter, rank)
        if not len(ranked):
            del self.recipes[number]
            self.filters &= ~(1 << number)

    def _discard(self, number: int, submitter: int, rank: Rank) -> None:
        of_filter, firsts = self._by_submitter[number], self.first_by_submitter[submitter]
        ranked = of_filter[submitter]
        ranked.discard(rank)
        if firsts.first(number) == rank:
            firsts.put(number, ranked.first())
        if len(ranked):
            return
        del of_filter[submitter]
        if not of_filter:
            del self._by_submitter[number]
        if not firsts:
            del self.first_by_submitter[submitter]

    def by_submitter(self, number: int) -> Mapping[int, Ranked[Rank]]:
        if self.only is None:
            return self._by_submitter.get(number, NOBODY)
        return {self.only: self.recipes[number]} if number in self.recipes else NOBODY

    def recipe_counts(self) -> RecipeCounts:
        """Return the counts of recipes, computed at the first call. Only explanations need them."""
        if self._recipe_counts is None:
            self._recipe_counts = RecipeCounts()
            for number in self.recipes:
                for submitter, ranked in self.by_submitter(number).items():
                    self._recipe_counts.add(number, submitter, ranked.unordered())
        return self._recipe_counts


def _added(by_key: dict[int, Ranked[Rank]], key: int, ranks: Iterable[Rank]) -> Rank | None:
    """Add ranks to the set of a key; return the first rank of the set."""
    ranked = by_key.get(key)
    if ranked is None:
        ranked = by_key[key] = Ranked(ranks)
    else:
        for rank in ranks:
            ranked.add(rank)
    return ranked.first()


class RecipeCounts:
    """Counts by submitter number and filter number. Mutable."""

    def __init__(self) -> None:
        # The number of recipes of each filter, by submitter and nominal priority.
        self._counts: dict[int, dict[int, BitSlicedNumbers]] = {}
        # The submitter and filter of each recipe, by nominal priority.
        self._recipes: dict[int, dict[Rank, tuple[int, int]]] = {}

    def add(self, number: int, submitter: int, ranks: Iterable[Rank]) -> None:
        by_priority = self._counts.setdefault(submitter, {})
        for rank in ranks:
            by_priority.setdefault(-rank.negative_priority, BitSlicedNumbers()).add(1 << number, 1)
            self._recipes.setdefault(-rank.negative_priority, {})[rank] = submitter, number

    def discard(self, number: int, submitter: int, rank: Rank) -> None:
        self._counts[submitter][-rank.negative_priority].subtract(1 << number, 1)
        del self._recipes[-rank.negative_priority][rank]

    def of(self, submitter: int) -> Mapping[int, BitSlicedNumbers]:
        """Return the numbers of recipes of a submitter: by nominal priority, then by filter."""
        return self._counts.get(submitter, {})

    def before(self, rank: Rank) -> dict[int, BitSlicedNumbers]:
        """Return the numbers of recipes of equal nominal priority before `rank`, by submitter and filter."""
        recipes = self._recipes.get(-rank.negative_priority, {})
        counted: dict[int, dict[int, int]] = {}
        before = Counter(pair for other, pair in recipes.items() if other < rank)
        for (submitter, number), count in before.items():
            counted.setdefault(submitter, {})[number] = count
        return {submitter: BitSlicedNumbers(counts) for submitter, counts in counted.items()}
