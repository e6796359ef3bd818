"""How many recipes a system asks before one of them, for thousands of systems at once (design 4.2, 5.2).

Whether a recipe stands before another on a system depends on whose they are, and on the maximum effective
priorities there: systems with equal `Submitting` agree. So recipes are counted by filter, whose they are and
nominal priority; for each kind of system those counts are added up that stand before; and each system counts
those of the filters it is viable for, by the bits it has in common with each binary digit of the counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from domain.access.submitting import Submitting, Who
from domain.priority import Priority
from domain.recipe.state import Recipe
from domain.scheduling.filters import QUEUED
from domain.scheduling.heads import HIGHEST, Rank
from domain.scheduling.partition import Partition
from domain.scheduling.planes import Planes
from domain.scheduling.question import in_order, is_for_forced_only, lines_of
from domain.scheduling.reasons import ITS_SET_IS_IN_LAB, SUBMITTED_BEFORE
from domain.scheduling.recipe_sets import line_of
from domain.system.state import System

Kind = tuple[Who, int]
"""Whose recipes, and of which nominal priority."""


class Tally:
    """How many recipes each filter has in a line: by kind, and apart those of the same nominal priority as
    `rank` that rank before it.
    """

    def __init__(self, partition: Partition, line: str, rank: Rank) -> None:
        everybody: dict[Kind, dict[int, int]] = {}
        before: dict[Kind, dict[int, int]] = {}
        for standing in partition.filters.wanting(line):
            number = standing.entry.number
            for who_number, ranked in standing.recipes.items():
                who = partition.filters.who(who_number)
                # A hundred thousand may stand there, a few with each filter of each who.
                counts, earlier = [0] * (HIGHEST + 1), 0
                for other in ranked.unordered():
                    counts[-other[0]] += 1
                    earlier += other < rank and other[0] == rank[0]
                for priority, count in enumerate(counts):
                    if count:
                        everybody.setdefault((who, priority), {})[number] = count
                if earlier:
                    before.setdefault((who, -rank[0]), {})[number] = earlier
        self.all = {kind: Planes(counted) for kind, counted in everybody.items()}
        self.before = {kind: Planes(counted) for kind, counted in before.items()}


class Places:
    """Of one recipe that stands in a line, or will, while nothing changes."""

    def __init__(self, partition: Partition, host: Recipe) -> None:
        self._partition = partition
        self._line = line_of(host) or QUEUED
        self._rank = partition.sets.rank(host)
        self._who = partition.sets.asks(host).who
        self._tallies: dict[str, Tally] = {}
        self._sums: dict[tuple[str, Submitting], Planes] = {}

    def before(self, system: System) -> int:
        """How many recipes that the system is viable for it asks before this one."""
        forced_only = is_for_forced_only(self._partition, system)
        signature = self._partition.filters.signature_of(system.fqdn, forced_only=forced_only)
        decides = self._decides(system)
        return sum(self._sum(line, decides).total(signature) for line in self._lines(system))

    def _lines(self, system: System) -> Iterator[str]:
        """Those that the system asks, up to the one it stands in."""
        for line in lines_of(system):
            yield line
            if line == self._line:
                return

    def _decides(self, system: System) -> Submitting:
        return self._partition.labs.access.of(self._partition.labs.number(system.fqdn))

    def _sum(self, line: str, decides: Submitting) -> Planes:
        """By filter, on all systems of a kind."""
        if (line, decides) not in self._sums:
            together = self._sums[line, decides] = Planes()
            for counted in self._standing_before(line, decides):
                together.add_each(counted)
        return self._sums[line, decides]

    def _standing_before(self, line: str, decides: Submitting) -> Iterator[Planes]:
        if line not in self._tallies:
            self._tallies[line] = Tally(self._partition, line, self._rank)
        tally, cap = self._tallies[line], self._partition.labs.access.cap
        nominal = -self._rank[0]
        effective = min(nominal, cap(decides, self._who))
        for (who, other), counted in tally.all.items():
            most = cap(decides, who)
            if most and (line != self._line or (min(other, most), other) > (effective, nominal)):
                yield counted
        if line == self._line:
            for (who, other), counted in tally.before.items():
                if min(other, cap(decides, who)) == effective:
                    yield counted


class Place(NamedTuple):
    """Where a recipe stands on a system: `key` is what puts it there."""

    recipe_id: int
    priority: int
    effective_priority: int
    key: tuple[int, ...]


def places_on(partition: Partition, system: System) -> Iterator[Place]:
    """The recipes that might have a system, in the order in which it asks them."""
    for rank in in_order(partition, system):
        recipe = partition.sets.recipes[rank[-1]]
        effective = int(effective_priority(partition, recipe, system))
        key = recipe.state != "assigned", -effective, *rank
        yield Place(recipe.recipe_id, -rank[0], effective, key)


def effective_priority(partition: Partition, recipe: Recipe, system: System) -> Priority:
    """Of a recipe that may be submitted to the system (seed 004)."""
    decides = partition.labs.access.of(partition.labs.number(system.fqdn))
    nominal = partition.sets.sets[recipe.recipe_set_id].priority
    return Priority(min(nominal, partition.labs.access.cap(decides, partition.sets.asks(recipe).who)))


def why_before(partition: Partition, recipe: Recipe, other: Recipe, system: System) -> str:
    """What puts another recipe before this one on a system that both could have."""
    if other.state == "assigned" and recipe.state != "assigned":
        return ITS_SET_IS_IN_LAB
    theirs, mine = (effective_priority(partition, each, system) for each in (other, recipe))
    if theirs != mine:
        return f"effective priority {theirs.name} before {mine.name}"
    theirs, mine = (partition.sets.sets[each.recipe_set_id].priority for each in (other, recipe))
    return f"priority {theirs.name} before {mine.name}" if theirs != mine else SUBMITTED_BEFORE
