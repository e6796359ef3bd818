"""Counts of the recipes of a line by filter, so that explanations need not go through the queue."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from domain.scheduling.bitsets.bit_sliced import BitSlicedNumbers
from domain.scheduling.demand.ranked import Rank


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
