"""How many recipes of a line have which filter: for who explains, so that nobody goes through the queue."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from domain.scheduling.bitsets.planes import Planes
from domain.scheduling.demand.heads import Rank


class Tally:
    """Mutable; filters and whos go by their numbers."""

    def __init__(self) -> None:
        # By who and nominal priority, how many each filter has.
        self._counted: dict[int, dict[int, Planes]] = {}
        # Recipes by nominal priority, each with its who and filter.
        self._standing: dict[int, dict[Rank, tuple[int, int]]] = {}

    def add(self, number: int, who: int, ranks: Iterable[Rank]) -> None:
        theirs = self._counted.setdefault(who, {})
        for rank in ranks:
            theirs.setdefault(-rank[0], Planes()).add(1 << number, 1)
            self._standing.setdefault(-rank[0], {})[rank] = who, number

    def discard(self, number: int, who: int, rank: Rank) -> None:
        self._counted[who][-rank[0]].subtract(1 << number, 1)
        del self._standing[-rank[0]][rank]

    def of(self, who: int) -> Mapping[int, Planes]:
        """By nominal priority, how many recipes of theirs each filter has."""
        return self._counted.get(who, {})

    def before(self, rank: Rank) -> dict[int, Planes]:
        """The same of those that have its nominal priority and rank before it, by who."""
        alike = self._standing.get(-rank[0], {})
        counted: dict[int, dict[int, int]] = {}
        for (who, number), count in Counter(place for other, place in alike.items() if other < rank).items():
            counted.setdefault(who, {})[number] = count
        return {who: Planes(counts) for who, counts in counted.items()}
