"""How many recipes of a line have which filter: for who explains, so that nobody goes through the queue."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from domain.scheduling.bitsets.bit_sliced import BitSlicedNumbers
from domain.scheduling.demand.ranked import Rank


class Tally:
    """Mutable; filters and whos go by their numbers."""

    def __init__(self) -> None:
        # By who and nominal priority, how many each filter has.
        self._counted: dict[int, dict[int, BitSlicedNumbers]] = {}
        # Recipes by nominal priority, each with its who and filter.
        self._standing: dict[int, dict[Rank, tuple[int, int]]] = {}

    def add(self, number: int, submitter: int, ranks: Iterable[Rank]) -> None:
        theirs = self._counted.setdefault(submitter, {})
        for rank in ranks:
            theirs.setdefault(-rank[0], BitSlicedNumbers()).add(1 << number, 1)
            self._standing.setdefault(-rank[0], {})[rank] = submitter, number

    def discard(self, number: int, submitter: int, rank: Rank) -> None:
        self._counted[submitter][-rank[0]].subtract(1 << number, 1)
        del self._standing[-rank[0]][rank]

    def of(self, submitter: int) -> Mapping[int, BitSlicedNumbers]:
        """By nominal priority, how many recipes of theirs each filter has."""
        return self._counted.get(submitter, {})

    def before(self, rank: Rank) -> dict[int, BitSlicedNumbers]:
        """The same of those that have its nominal priority and rank before it, by who."""
        alike = self._standing.get(-rank[0], {})
        counted: dict[int, dict[int, int]] = {}
        for (submitter, number), count in Counter(
            place for other, place in alike.items() if other < rank
        ).items():
            counted.setdefault(submitter, {})[number] = count
        return {submitter: BitSlicedNumbers(counts) for submitter, counts in counted.items()}
