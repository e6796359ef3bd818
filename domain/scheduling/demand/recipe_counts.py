"""Counts of the recipes of a line by filter, for explanations, which need not go through the queue then."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from domain.scheduling.bitsets.bit_sliced import BitSlicedNumbers
from domain.scheduling.demand.ranked import Rank


class RecipeCounts:
    """Counts by submitter number and filter number. Mutable."""

    def __init__(self) -> None:
        # The number of recipes of each filter, by submitter and nominal priority.
        self._counted: dict[int, dict[int, BitSlicedNumbers]] = {}
        # The submitter and filter of each recipe, by nominal priority.
        self._standing: dict[int, dict[Rank, tuple[int, int]]] = {}

    def add(self, number: int, submitter: int, ranks: Iterable[Rank]) -> None:
        theirs = self._counted.setdefault(submitter, {})
        for rank in ranks:
            theirs.setdefault(-rank.negative_priority, BitSlicedNumbers()).add(1 << number, 1)
            self._standing.setdefault(-rank.negative_priority, {})[rank] = submitter, number

    def discard(self, number: int, submitter: int, rank: Rank) -> None:
        self._counted[submitter][-rank.negative_priority].subtract(1 << number, 1)
        del self._standing[-rank.negative_priority][rank]

    def of(self, submitter: int) -> Mapping[int, BitSlicedNumbers]:
        """Return the number of recipes of each filter, by nominal priority, for a submitter."""
        return self._counted.get(submitter, {})

    def before(self, rank: Rank) -> dict[int, BitSlicedNumbers]:
        """Return the number of recipes of each filter, by submitter, of the same nominal priority and ranked
        before `rank`.
        """
        alike = self._standing.get(-rank.negative_priority, {})
        counted: dict[int, dict[int, int]] = {}
        for (submitter, number), count in Counter(
            place for other, place in alike.items() if other < rank
        ).items():
            counted.setdefault(submitter, {})[number] = count
        return {submitter: BitSlicedNumbers(counts) for submitter, counts in counted.items()}
