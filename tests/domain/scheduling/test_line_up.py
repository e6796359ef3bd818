"""The lines after a change of the configuration: those of a scheduler that has just started."""

from __future__ import annotations

from random import Random
from typing import Any

import orjson
import pytest

from domain.scheduling.decisions.decide import decide
from domain.scheduling.demand.filters import Filters
from domain.scheduling.world.partition import Partition
from domain.scheduling.world.snapshot import pieces, restored
from tests.domain.scheduling.contents import check_indexes, line_with_needs
from tests.domain.scheduling.history import REARRANGED, begin, burst
from tests.domain.scheduling.host_requirements import named
from tests.domain.scheduling.world import World


def groups(partition: Partition) -> dict[Any, Any]:
    """Return the ranks of each group in order, by what stands for the numbers of the group and its line."""
    filters, rooms = partition.filters, partition.sets.rooms
    return {
        (
            line_with_needs(rooms, name),
            filters._by_number[number].key,
            filters.submitter(submitter),
            filters.weighing.profile(profile),
        ): (list(ranked), [list(each) for each in ranked.by_priority()])
        for name, line in filters._lines.items()
        for number, of_filter in line.groups().items()
        for (submitter, profile), ranked in of_filter.items()
    }


def counts(partition: Partition) -> dict[Any, Any]:
    """Return the counted recipes of each line by priority, in order."""
    return {
        line_with_needs(partition.sets.rooms, name): {
            priority: sorted(rank for ranks in of_priority.values() for rank in ranks)
            for priority, of_priority in line.recipe_counts()._recipes.items()
            if of_priority
        }
        for name, line in partition.filters._lines.items()
        if line.filters
    }


def users(partition: Partition) -> dict[Any, int]:
    """Return the number of recipes of each profile."""
    weighing = partition.filters.weighing
    return {weighing.profile(number): count for number, count in weighing._users.items()}


@pytest.mark.parametrize("seed", range(10))
def test_history__orders_maxima_and_locks_change__lines_and_decisions_of_a_restart(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    line_ups = []
    line_up = Filters.line_up
    monkeypatch.setattr(Filters, "line_up", lambda *given: (line_ups.append(1), line_up(*given))[1])
    chance, world = Random(seed), begin(seed)
    for _ in range(30):
        burst(chance, world, REARRANGED)
        check_indexes(world.partition)
        restarted = restored(orjson.loads(orjson.dumps(piece)) for piece in pieces(world.partition))
        for found in (groups, counts, users):
            assert found(world.partition) == found(restarted)
        assert decide(restarted, 500, world.now) == decide(world.partition, 500, world.now)
        world.partition.rollback()
        world.settle(chance.choice((1, 500)))
    assert len(line_ups) > 5, "hardly any change concerned the lines"


def waiting(*queues: str, **new: Any) -> tuple[World, list[int]]:
    """Return a world in which equal recipes in these queues wait for one system, and the recipes."""
    world = World()
    world.add_lab("lab-1")
    world.put_tree(1, "x86_64", ["lab-1"])
    world.add_system("m1", condition="Manual")
    submitted = [world.submit(named("m1"), submitted={"queue": queue}, **new) for queue in queues]
    world.settle()
    return world, submitted


def test_maximum_put_and_removed__equal_recipes_in_two_queues__one_leaves_the_others_and_returns() -> None:
    world, (limited, other, _) = waiting("root.a", "root.b", "root.b")
    line_of, recipes = world.partition.sets.places.line_of, world.partition.sets.recipes
    for maximum, sizes in ((1, [1, 2]), (None, [3])):
        world.configure(queues={"queues": [{"name": "a", "max": maximum}, {"name": "b"}]})
        check_indexes(world.partition)
        assert (line_of(recipes[limited]) == line_of(recipes[other])) == (maximum is None)
        assert sorted(len(ranks) for ranks, _ in groups(world.partition).values()) == sizes


def test_order_put__one_set_of_a_job_is_owed__stands_in_another_line() -> None:
    world, (owed, other) = waiting("root.a", "root.a", job_id=1)
    sets = world.partition.sets
    sets.set_overtaken(sets.recipes[owed].recipe_set_id, 8)
    world.configure(queues={"order": "fair", "queues": [{"name": "a", "order": "fair"}]})
    check_indexes(world.partition)
    assert sets.places.line_of(sets.recipes[owed]) != sets.places.line_of(sets.recipes[other])
