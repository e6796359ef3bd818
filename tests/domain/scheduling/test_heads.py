"""The order of a line is that of all its recipes together, few filters or many."""

from __future__ import annotations

from random import Random

import pytest

from domain.priority import Priority
from domain.scheduling.blocks import Order, Step
from domain.scheduling.heads import Heads, Rank
from domain.scheduling.ranked import Ranked

FILTERS = 12
UNCAPPED = Order(tuple(Step(nominal, None) for nominal in reversed(Priority)), (Priority.Urgent,))


class Line:
    """Filters and their recipes, beside a plain list."""

    def __init__(self) -> None:
        self.heads = Heads()
        self.recipes = {number: Ranked[Rank]() for number in range(FILTERS)}
        self.plain: set[tuple[int, Rank]] = set()

    def turn(self, number: int, rank: Rank) -> None:
        """Who stands there goes, else comes."""
        standing = (number, rank) in self.plain
        self.plain ^= {(number, rank)}
        (self.recipes[number].discard if standing else self.recipes[number].add)(rank)
        if self.heads.first(number) != self.recipes[number].first():
            self.heads.put(number, self.recipes[number].first())

    def merged(self, among: int) -> list[Rank]:
        return list(self.heads.merged(among, UNCAPPED, lambda number: (0, self.recipes[number])))


@pytest.mark.parametrize("seed", range(20))
def test_merged__recipes_come_and_go__is_one_sorted_list(seed: int) -> None:
    chance, line = Random(seed), Line()
    for ticket in range(120):
        again = chance.choice(sorted(line.plain)) if line.plain and chance.random() < 0.5 else None
        # Now and then two recipes are of one set.
        rank = (-1 - chance.randrange(3), ticket // 3, ticket)
        line.turn(*(again or (chance.randrange(FILTERS), rank)))
        among = chance.getrandbits(FILTERS)
        assert line.merged(among) == sorted(rank for number, rank in line.plain if among >> number & 1)


def test_merged__first_alone__looks_at_no_other_filter() -> None:
    line = Line()
    for number in range(FILTERS):
        line.turn(number, (-1, number, number))
    looked_at: list[int] = []

    def recipes(number: int) -> tuple[int, Ranked[Rank]]:
        looked_at.append(number)
        return 0, line.recipes[number]

    assert next(line.heads.merged(2**FILTERS - 1, UNCAPPED, recipes)) == (-1, 0, 0)
    assert looked_at == [0]
