"""Who waits for a system, in the order in which a system asks them: by line, and in it by what they need.

Those who need the same are viable on the same systems, so that asking the first of them mostly answers for
all.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from replay.audit.values import Distro, Wants

Rank = tuple[int, int, int]
"""Priority (the most urgent is 0), submission, recipe."""


@dataclass(frozen=True, eq=False)
class Need:
    """What decides on which systems a recipe is viable: its own wants, and what its guests install.

    Recipes of one world that need the same share one of these.
    """

    wants: Wants
    guests: tuple[Distro | None, ...]

    @property
    def distros(self) -> tuple[Distro | None, ...]:
        return self.wants.distro, *self.guests


Head = tuple[Rank, Need]
"""The first of those who need the same."""


class Place(NamedTuple):
    """`lab` is the one whose line it stands in: that of its set, None in the queue of all."""

    lab: str | None
    need: Need
    rank: Rank


class Line:
    """Mutable. A list stays the same object, also while it is empty: whoever goes through it may suppose
    something meanwhile, and take it back.
    """

    def __init__(self) -> None:
        self.heads: list[Head] = []
        self._ranks: dict[Need, list[Rank]] = {}

    def of(self, need: Need) -> list[Rank]:
        """All who need the same, in order."""
        return self._ranks[need]

    def add(self, need: Need, rank: Rank) -> None:
        ranks = self._ranks.setdefault(need, [])
        if not ranks or rank < ranks[0]:
            if ranks:
                self._drop_head(ranks[0])
            insort(self.heads, (rank, need))
        insort(ranks, rank)

    def drop(self, need: Need, rank: Rank) -> None:
        ranks = self._ranks[need]
        place = bisect_left(ranks, rank)
        del ranks[place]
        if place == 0:
            self._drop_head(rank)
            if ranks:
                insort(self.heads, (ranks[0], need))

    def _drop_head(self, rank: Rank) -> None:
        # No two have the same rank, so that nothing behind it is ever compared.
        del self.heads[bisect_left(self.heads, (rank,))]


class Lines:
    """Mutable: one place for each recipe that waits."""

    def __init__(self) -> None:
        self._lines: defaultdict[str | None, Line] = defaultdict(Line)
        self._places: dict[int, Place] = {}

    def __getitem__(self, lab: str | None) -> Line:
        return self._lines[lab]

    def __iter__(self) -> Iterator[int]:
        """The recipes that wait."""
        return iter(self._places)

    def put(self, recipe_id: int, place: Place | None) -> None:
        """It stands there now, and nowhere else; None: it waits no more."""
        before = self._places.pop(recipe_id, None)
        if before is not None:
            self._lines[before.lab].drop(before.need, before.rank)
        if place is not None:
            self._places[recipe_id] = place
            self._lines[place.lab].add(place.need, place.rank)
