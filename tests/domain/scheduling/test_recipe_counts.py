"""Counts of the recipes of a line, which follow every change after the first query."""

from __future__ import annotations

from random import Random

import pytest

from domain.priority import Priority
from domain.scheduling.demand.lines import Line
from domain.scheduling.ranked import Rank

FILTERS, SUBMITTERS = 6, 3


def counted(plain: set[tuple[int, int, Rank]], who: int, nominal: int, number: int, rank: Rank) -> int:
    alike = [one for one in plain if one[:2] == (number, who) and one[2][0] == -nominal]
    return sum(one[2] < rank for one in alike)


@pytest.mark.parametrize("seed", range(10))
def test_tally__recipes_come_and_go__counts_of_the_line(seed: int) -> None:
    chance, line, plain = Random(seed), Line(is_queued=True), set[tuple[int, int, Rank]]()
    asked_from = chance.randrange(60)
    for ticket in range(150):
        if plain and chance.random() < 0.4:
            gone = chance.choice(sorted(plain))
            plain.remove(gone)
            line.discard((*gone[:2], 0), gone[2])
        else:
            # At first all may be of one who.
            who = chance.randrange(SUBMITTERS) if ticket > 20 else 1
            come = chance.randrange(FILTERS), who, Rank(-chance.choice(list(Priority)), ticket, ticket)
            plain.add(come)
            line.add((*come[:2], 0), come[2])
        if ticket < asked_from:
            continue
        recipe_counts = line.recipe_counts()
        rank = Rank(-chance.choice(list(Priority)), chance.randrange(ticket + 1), 0)
        before = recipe_counts.before(-rank.negative_priority, lambda other, _, rank=rank: other < rank)
        for who in range(SUBMITTERS):
            for number in range(FILTERS):
                for nominal, planes in recipe_counts.of(who).items():
                    end = (-nominal, ticket + 1, 0)
                    assert planes.value(number) == counted(plain, who, nominal, number, end)
                found = before[who].value(number) if who in before else 0
                assert found == counted(plain, who, -rank.negative_priority, number, rank)
    assert plain
