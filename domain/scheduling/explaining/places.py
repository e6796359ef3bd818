"""How many recipes a system asks before one of them, for thousands of systems at once (design 4.2, 5.2).

Whether a recipe stands before another on a system depends on whose they are, and on the maximum effective
priorities there: systems with equal `Submitting` agree. So recipes are counted by filter, whose they are and
nominal priority; for each kind of system those counts are added up that stand before; and each system counts
those of the filters it is viable for, by the bits it has in common with each binary digit of the counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from domain.access.submitting import Submitting
from domain.priority import Priority
from domain.recipe.state import Recipe
from domain.scheduling.blocks import Order
from domain.scheduling.filters import QUEUED
from domain.scheduling.heads import Rank
from domain.scheduling.partition import Partition
from domain.scheduling.planes import Planes
from domain.scheduling.recipe_sets import line_of

Counts = dict[tuple[int, int], Planes]
"""By who and nominal priority how many recipes each filter has."""


class Tally:
    """Who stands in a line: all of them, and apart those of the same nominal priority that rank before."""

    def __init__(self, partition: Partition, line: str, rank: Rank) -> None:
        everybody: dict[tuple[int, int], Counter[int]] = {}
        before: dict[tuple[int, int], Counter[int]] = {}
        for number, who, ranks in partition.filters.standing_in(line):
            for other in ranks:
                kind = who, -other[0]
                everybody.setdefault(kind, Counter())[number] += 1
                if other[0] == rank[0] and other < rank:
                    before.setdefault(kind, Counter())[number] += 1
        self.all: Counts = {kind: Planes(counted) for kind, counted in everybody.items()}
        self.before: Counts = {kind: Planes(counted) for kind, counted in before.items()}


class Places:
    """Of one recipe that stands in a line, or will, while nothing changes."""

    def __init__(self, partition: Partition, host: Recipe) -> None:
        self._partition = partition
        self._line = line_of(host) or QUEUED
        self._rank = partition.sets.rank(host)
        self._who = partition.filters.block_of(partition.sets.asks(host).who)
        self._tallies: dict[str, Tally] = {}
        self._sums: dict[tuple[str, Submitting], Planes] = {}

    def effective_priority(self, number: int) -> int:
        """On a system where it may be submitted."""
        return min(-self._rank[0], self._partition.filters.order_on(number).maxima[self._who])

    def before(self, number: int) -> int:
        """How many recipes that the system is viable for it asks before this one."""
        filters = self._partition.filters
        return sum(
            self._sum(line, number).weighed(filters.signature_of(number)) for line in self._lines(number)
        )

    def _lines(self, number: int) -> Iterator[str]:
        """Those that the system asks up to the one it stands in."""
        lab_controller = self._partition.system(number).lab_controller
        if self._line != lab_controller:
            yield lab_controller
        yield self._line

    def _sum(self, line: str, number: int) -> Planes:
        question = line, self._partition.labs.access.of(number)
        if question not in self._sums:
            together = self._sums[question] = Planes()
            for counted in self._standing_before(line, self._partition.filters.order_on(number)):
                together.add_each(counted)
        return self._sums[question]

    def _standing_before(self, line: str, order: Order) -> Iterator[Planes]:
        if line not in self._tallies:
            self._tallies[line] = Tally(self._partition, line, self._rank)
        tally = self._tallies[line]
        nominal = -self._rank[0]
        effective = min(nominal, order.maxima[self._who])
        for (who, other), counted in tally.all.items():
            most = order.maxima[who]
            if most and (line != self._line or (min(other, most), other) > (effective, nominal)):
                yield counted
        if line == self._line:
            for (who, other), counted in tally.before.items():
                if min(other, order.maxima[who]) == effective:
                    yield counted


def why_before(rank: Rank, other: Rank, mine: int, theirs: int) -> str:
    """What puts another recipe of the same line before this one; `mine`, `theirs`: effective priorities."""
    if theirs != mine:
        return f"effective priority {Priority(theirs).name} before {Priority(mine).name}"
    if other[0] != rank[0]:
        return f"priority {Priority(-other[0]).name} before {Priority(-rank[0]).name}"
    return "submitted before"
