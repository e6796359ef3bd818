"""Who stands in one line: the queue, or those of a lab that were assigned to it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from domain.scheduling.demand.heads import Heads, Rank
from domain.scheduling.demand.ranked import Ranked
from domain.scheduling.demand.tally import Tally

NOBODY: Mapping[int, Ranked[Rank]] = {}


def newly_of(lab_controller: str) -> str:
    """Return the line of the newly assigned recipes of a lab, which rank with the queued ones."""
    return f"{lab_controller} newly"


class Line:
    """Mutable. Recipes by the number of their filter; `filters` is the bitmap of those.

    `heads` are the first recipes of each filter, whoever's they are; `of_who` those of each who. As long as
    all are of one who, `only`, that is the same, and is not kept twice.
    """

    def __init__(self) -> None:
        self.filters = 0
        self.recipes: dict[int, Ranked[Rank]] = {}
        self.heads = Heads()
        self.only: int | None = None
        self.of_who: dict[int, Heads] = {}
        self._by_who: dict[int, dict[int, Ranked[Rank]]] = {}
        self._tally: Tally | None = None

    def add(self, number: int, who: int, *ranks: Rank) -> None:
        if not self.filters:
            self.only = who
        elif self.only is not None and self.only != who:
            self._tell_apart(self.only)
        self.filters |= 1 << number
        self.heads.put(number, _added(self.recipes, number, ranks))
        if self.only is None:
            self._add(number, who, ranks)
        if self._tally is not None:
            self._tally.add(number, who, ranks)

    def _add(self, number: int, who: int, ranks: Iterable[Rank]) -> None:
        first = _added(self._by_who.setdefault(number, {}), who, ranks)
        if who not in self.of_who:
            self.of_who[who] = Heads()
        self.of_who[who].put(number, first)

    def _tell_apart(self, only: int) -> None:
        self.only = None
        for number, ranked in self.recipes.items():
            self._add(number, only, ranked)

    def discard(self, number: int, who: int, rank: Rank) -> None:
        ranked = self.recipes[number]
        ranked.discard(rank)
        if self.heads.first(number) == rank:
            self.heads.put(number, ranked.first())
        if self.only is None:
            self._discard(number, who, rank)
        if self._tally is not None:
            self._tally.discard(number, who, rank)
        if not len(ranked):
            del self.recipes[number]
            self.filters &= ~(1 << number)

    def _discard(self, number: int, who: int, rank: Rank) -> None:
        of_filter, heads = self._by_who[number], self.of_who[who]
        ranked = of_filter[who]
        ranked.discard(rank)
        if heads.first(number) == rank:
            heads.put(number, ranked.first())
        if len(ranked):
            return
        del of_filter[who]
        if not of_filter:
            del self._by_who[number]
        if not heads:
            del self.of_who[who]

    def by_who(self, number: int) -> Mapping[int, Ranked[Rank]]:
        """The recipes with a filter."""
        if self.only is None:
            return self._by_who.get(number, NOBODY)
        return {self.only: self.recipes[number]} if number in self.recipes else NOBODY

    def tally(self) -> Tally:
        """Made when somebody first asks, and kept in step from then on: who decides never asks."""
        if self._tally is None:
            self._tally = Tally()
            for number in self.recipes:
                for who, ranked in self.by_who(number).items():
                    self._tally.add(number, who, ranked.unordered())
        return self._tally


def _added(places: dict[int, Ranked[Rank]], place: int, ranks: Iterable[Rank]) -> Rank | None:
    """The first that is there with these."""
    ranked = places.get(place)
    if ranked is None:
        ranked = places[place] = Ranked(ranks)
    else:
        for rank in ranks:
            ranked.add(rank)
    return ranked.first()
