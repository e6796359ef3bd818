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

from replay.audit.bitmaps import numbers_in
from replay.audit.tables import PRIORITIES
from replay.audit.values import Distro, Wants

Rank = tuple[int, ...]
"""Priority (the most urgent is 0), submission, recipe."""

LAST: Rank = (len(PRIORITIES),)


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
    """`lab` is the one whose line it stands in: that of its set, None in the queue of all."""

    lab: str | None
    need: Need
    rank: Rank


class Line:
    """Mutable. A list of ranks stays the same object, also while it is empty: whoever goes through it may
    suppose something meanwhile, and take it back.
    """

    def __init__(self) -> None:
        # By the priority of the first who needs it: its requirement, as a bitmap, and the needs with each.
        self._first = [0] * len(PRIORITIES)
        self._needs: list[defaultdict[int, list[Need]]] = [defaultdict(list) for _ in PRIORITIES]
        self._ranks: defaultdict[Need, list[Rank]] = defaultdict(list)

    def of(self, need: Need) -> list[Rank]:
        """All who need the same, in order."""
        return self._ranks[need]

    def needs(self, among: int, end: Rank) -> Iterator[Need]:
        """Needs with a requirement of these (bitmap), whose first recipe stands before the end."""
        for priority in range(min(end[0] + 1, len(PRIORITIES))):
            needs, ranks = self._needs[priority], self._ranks
            for number in numbers_in(self._first[priority] & among):
                for need in needs[number]:
                    if ranks[need][0] < end:
                        yield need

    def add(self, need: Need, rank: Rank) -> None:
        ranks = self._ranks[need]
        before = ranks[0] if ranks else LAST
        insort(ranks, rank)
        self._stand(need, before, ranks[0])

    def drop(self, need: Need, rank: Rank) -> None:
        ranks = self._ranks[need]
        before = ranks[0]
        del ranks[bisect_left(ranks, rank)]
        self._stand(need, before, ranks[0] if ranks else LAST)

    def _stand(self, need: Need, before: Rank, first: Rank) -> None:
        """The first who needs it was this one, and is that one; LAST stands for nobody."""
        number = need.wants.number
        if first[0] == before[0]:
            return
        if before is not LAST:
            needs = self._needs[before[0]][number]
            needs.remove(need)
            if not needs:
                self._first[before[0]] ^= 1 << number
        if first is not LAST:
            self._needs[first[0]][number].append(need)
            self._first[first[0]] |= 1 << number


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
