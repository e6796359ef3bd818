"""Queues of waiting recipes in rank order, by lab and party, and in each by need.

Recipes with the same need fit the same systems, so mostly the check of the first answers for all. The members
of a party have the same rights everywhere, so the order within a queue is the same on every system.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from replay.audit.bitmaps import numbers_in
from replay.audit.rights import Who
from replay.audit.tables import PRIORITIES
from replay.audit.values import Distro, Wants

Rank = tuple[int, ...]
"""Priority (0 is the most urgent), submission, recipe."""

LAST: Rank = (len(PRIORITIES),)
# Before every recipe.
NOBODY: Rank = ()


@dataclass(frozen=True, eq=False)
class Need:
    """The conditions under which a recipe fits a system: its own wants, and the distros of its guests.

    Recipes of one world with the same need share one object.
    """

    wants: Wants
    guests: tuple[Distro | None, ...]

    @property
    def distros(self) -> tuple[Distro | None, ...]:
        return self.wants.distro, *self.guests


class Place(NamedTuple):
    """The place of a waiting recipe. `lab` is the lab of its set, None if the set is bound to no lab."""

    lab: str | None
    who: Who
    need: Need
    rank: Rank


class Line:
    """The waiting recipes of one party. Mutable.

    The list of ranks of a need is never replaced, even when empty, so that callers may iterate it while they
    apply tentative changes and roll them back.
    """

    def __init__(self) -> None:
        # The first rank of each need with the number of its requirement, sorted; the needs by requirement;
        # and the bitmap of their requirements.
        self._firsts: list[tuple[Rank, int, Need]] = []
        self._needs: defaultdict[int, list[Need]] = defaultdict(list)
        self._asked = 0
        self._ranks: defaultdict[Need, list[Rank]] = defaultdict(list)

    @property
    def first(self) -> Rank | None:
        """Rank of the first recipe, None if the queue is empty."""
        return self._firsts[0][0] if self._firsts else None

    def of(self, need: Need) -> list[Rank]:
        """Return the ranks of all recipes with this need, in order."""
        return self._ranks[need]

    def needs(self, among: int, end: Rank) -> list[Need]:
        """Return the needs with a requirement in a bitmap whose first recipe ranks before the end."""
        before = bisect_left(self._firsts, (end,))
        if not before:
            return []
        asked = self._asked & among
        # Iterate the smaller side: the needs before the end, or the requirements in the bitmap.
        if before <= asked.bit_count():
            # Reading a digit takes a tenth of the time of shifting a long number.
            digits = f"{asked:0{self._asked.bit_length()}b}"
            return [need for _, number, need in self._firsts[:before] if digits[~number] == "1"]
        ranks = self._ranks
        return [need for number in numbers_in(asked) for need in self._needs[number] if ranks[need][0] < end]

    def add(self, need: Need, rank: Rank) -> None:
        ranks = self._ranks[need]
        before = ranks[0] if ranks else None
        insort(ranks, rank)
        self._stand(need, before, ranks[0])

    def drop(self, need: Need, rank: Rank) -> None:
        ranks = self._ranks[need]
        before = ranks[0]
        del ranks[bisect_left(ranks, rank)]
        self._stand(need, before, ranks[0] if ranks else None)

    def _stand(self, need: Need, before: Rank | None, first: Rank | None) -> None:
        """Note that the first rank of a need has changed; None stands for no recipe."""
        if first == before:
            return
        if before is not None:
            del self._firsts[bisect_left(self._firsts, (before,))]
        if first is not None:
            insort(self._firsts, (first, need.wants.number, need))
        if before is None or first is None:
            self._is_needed(need, first is not None)

    def _is_needed(self, need: Need, by_somebody: bool) -> None:
        number = need.wants.number
        needs = self._needs[number]
        if by_somebody:
            needs.append(need)
        else:
            needs.remove(need)
        if len(needs) == by_somebody:
            # It was the first, or the last, need with this requirement.
            self._asked ^= 1 << number


class Lines:
    """All queues, with one place for each waiting recipe. Mutable."""

    def __init__(self) -> None:
        self._lines: defaultdict[str | None, defaultdict[Who, Line]] = defaultdict(_lines)
        self._places: dict[int, Place] = {}

    def __getitem__(self, lab: str | None) -> list[tuple[Who, Line]]:
        """Return the queues of a lab, or with None of recipes bound to no lab."""
        return list(self._lines[lab].items())

    def __iter__(self) -> Iterator[int]:
        """Iterate the waiting recipes."""
        return iter(self._places)

    def put(self, recipe_id: int, place: Place | None) -> None:
        """Move a recipe to a place; None means that it no longer waits."""
        before = self._places.pop(recipe_id, None)
        if before is not None:
            self._lines[before.lab][before.who].drop(before.need, before.rank)
        if place is not None:
            self._places[recipe_id] = place
            self._lines[place.lab][place.who].add(place.need, place.rank)

    def close(self, who: Who) -> None:
        """Delete the empty queues of a party. The caller must not be iterating them."""
        for lines in self._lines.values():
            if who in lines and lines[who].first is None:
                del lines[who]


def _lines() -> defaultdict[Who, Line]:
    return defaultdict(Line)
