"""Who waits for a system, in the order in which a system asks them: by line, and in it by what they need.

Those who need the same are viable on the same systems, so that asking the first of them mostly answers for
all. A line is of people who have the same rights everywhere, so that its order is the same on every system.
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
"""Priority (the most urgent is 0), submission, recipe."""

LAST: Rank = (len(PRIORITIES),)
# Before everybody.
NOBODY: Rank = ()


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


class Place(NamedTuple):
    """`lab` is the one whose lines it stands in: that of its set, None in the queue of all."""

    lab: str | None
    who: Who
    need: Need
    rank: Rank


class Line:
    """Mutable. A list of ranks stays the same object, also while it is empty: whoever goes through it may
    suppose something meanwhile, and take it back.
    """

    def __init__(self) -> None:
        # The first of each need, with the number of its requirement, in order; by requirement, and which
        # requirements those are (bitmap).
        self._firsts: list[tuple[Rank, int, Need]] = []
        self._needs: defaultdict[int, list[Need]] = defaultdict(list)
        self._asked = 0
        self._ranks: defaultdict[Need, list[Rank]] = defaultdict(list)

    @property
    def first(self) -> Rank | None:
        """Of whoever stands at its head; None: nobody does."""
        return self._firsts[0][0] if self._firsts else None

    def of(self, need: Need) -> list[Rank]:
        """All who need the same, in order."""
        return self._ranks[need]

    def needs(self, among: int, end: Rank) -> list[Need]:
        """Needs with a requirement of these (bitmap), whose first recipe stands before the end."""
        before = bisect_left(self._firsts, (end,))
        if not before:
            return []
        asked = self._asked & among
        # Either may be few: who stands before the end, and what a system fulfils.
        if before <= asked.bit_count():
            # A digit is looked at in a tenth of the time that it takes to shift a long number.
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
        """The first who needs it was this one, and is that one; None stands for nobody."""
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
            # It is the first, or was the last, with this requirement.
            self._asked ^= 1 << number


class Lines:
    """Mutable: one place for each recipe that waits."""

    def __init__(self) -> None:
        self._lines: defaultdict[str | None, defaultdict[Who, Line]] = defaultdict(_lines)
        self._places: dict[int, Place] = {}

    def __getitem__(self, lab: str | None) -> list[tuple[Who, Line]]:
        """Those of a lab, or of the queue of all."""
        return list(self._lines[lab].items())

    def __iter__(self) -> Iterator[int]:
        """The recipes that wait."""
        return iter(self._places)

    def put(self, recipe_id: int, place: Place | None) -> None:
        """It stands there now, and nowhere else; None: it waits no more."""
        before = self._places.pop(recipe_id, None)
        if before is not None:
            self._lines[before.lab][before.who].drop(before.need, before.rank)
        if place is not None:
            self._places[recipe_id] = place
            self._lines[place.lab][place.who].add(place.need, place.rank)

    def close(self, who: Who) -> None:
        """The lines in which nobody stands any more; not while somebody goes through them."""
        for lines in self._lines.values():
            if who in lines and lines[who].first is None:
                del lines[who]


def _lines() -> defaultdict[Who, Line]:
    return defaultdict(Line)
