"""What is decided while a commit is on its way is what who has read that commit would decide."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import pytest

from domain.scheduling.decide import decide
from domain.scheduling.draft import Decision
from domain.scheduling.partition import Partition
from tests.domain.scheduling import folded_log
from tests.domain.scheduling.contents import check_indexes, contents
from tests.domain.scheduling.history import begin, burst
from tests.domain.scheduling.test_known_commits import Reader
from tests.domain.scheduling.wants import ANYTHING, named
from tests.domain.scheduling.world import World


class Ahead(Partition):
    """`in_peace`: its last commit came right behind what it knew."""

    in_peace = False

    def committed(self, first_position: int, last_position: int) -> None:
        super().committed(first_position, last_position)
        Ahead.in_peace = self.position == last_position


def decide_ahead(world: World, limit: int) -> Sequence[Decision] | None:
    """None where that must wait until the commit is known."""
    if not world.partition.stands_alone() or world.partition.triggers.first() is None:
        return None
    world.partition.on_its_way()
    return decide(world.partition, limit, world.now)


def two_worlds(seed: int, monkeypatch: pytest.MonkeyPatch) -> tuple[World, World]:
    worlds = []
    for kind in (Ahead, Reader):
        monkeypatch.setattr(folded_log, "Partition", kind)
        worlds.append(begin(seed))
    return worlds[0], worlds[1]


def run_both(ahead: World, reader: World, limit: int) -> tuple[int, int]:
    """Until nothing is left to decide: how often something was decided ahead, and was void."""
    kept = void = 0
    made: Sequence[Decision] | None = None
    while made := made or decide(ahead.partition, limit, ahead.now):
        assert decide(reader.partition, limit, reader.now) == made
        behind = decide_ahead(ahead, limit)
        for world in (ahead, reader):
            world.commit_decisions(made, world.partition.position)
        made = behind if Ahead.in_peace else None
        kept, void = kept + bool(made), void + bool(behind and not made)
        if behind is None or (behind and not made):
            assert contents(ahead.partition) == contents(reader.partition)
            check_indexes(ahead.partition)
    assert not decide(reader.partition, limit, reader.now)
    assert contents(ahead.partition) == contents(reader.partition)
    return kept, void


def test_history__decided_ahead_and_one_after_the_other__same_decisions_and_same_partition(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kept = void = 0
    for seed in range(6):
        ahead, reader = two_worlds(seed, monkeypatch)
        chances = Random(seed), Random(seed)
        for number in range(25):
            for chance, world in zip(chances, (ahead, reader), strict=True):
                burst(chance, world)
            more_kept, more_void = run_both(ahead, reader, limit=1 + number % 2)
            kept, void = kept + more_kept, void + more_void
    assert kept > 10, "hardly anything was decided ahead"
    assert void > 10, "hardly ever came anything in between"


def waiting(world: World) -> None:
    """Two systems and two recipes, nobody answered yet."""
    world.add_idle("a")
    world.add_idle("b")
    for _ in range(2):
        world.submit(ANYTHING.text)


def test_refused__both_commits__as_before_and_decided_again(world: World) -> None:
    waiting(world)
    before = contents(world.partition)
    made = decide(world.partition, 1, world.now)
    behind = decide_ahead(world, 1)
    assert behind
    assert behind != made
    world.partition.refused()
    assert contents(world.partition) == before
    assert decide(world.partition, 2, world.now) == [*made, *behind]


def test_decided_ahead__nothing_comes_of_a_question__asked_again_if_the_commit_is_refused(
    world: World,
) -> None:
    """It was asked of a world that never came to be."""
    world.enable("lab-1", enabled=False)
    world.add_idle("a")
    recipe_id = world.submit(ANYTHING.text)
    world.settle()
    world.enable("lab-1", enabled=True)
    world.describe("a", memory_mb=1)
    before = world.partition.triggers.waiting()
    assert decide(world.partition, 1, world.now)
    assert decide_ahead(world, 1) == []
    world.partition.refused()
    assert world.partition.triggers.waiting() == before
    world.settle()
    assert world.recipes[recipe_id].state == "waiting"


def test_stands_alone__recipes_of_their_own_get_systems__yes(world: World) -> None:
    waiting(world)
    assert decide(world.partition, 2, world.now)
    assert world.partition.stands_alone()


@pytest.mark.parametrize("hosts", [[ANYTHING.text, ANYTHING.text], [named("nobody")]])
def test_stands_alone__something_is_raised_or_ends__not_before_it_is_known(
    hosts: list[str], world: World
) -> None:
    world.add_idle("a", "b")
    world.submit_set(hosts)
    assert decide(world.partition, 1, world.now)
    assert not world.partition.stands_alone()
