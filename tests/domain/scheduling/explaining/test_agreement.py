"""What is explained and what is decided cannot disagree: held against each other over long histories."""

from __future__ import annotations

from functools import cache
from random import Random

import pytest

from domain.access.policy import Form
from domain.recipe.events import RecipeScheduled
from domain.recipe.state import Recipe
from domain.scheduling.bitsets.bitmaps import numbers_in
from domain.scheduling.decisions.pending_system import ranks_for_system
from domain.scheduling.explaining.candidates import NOT_NOW, Candidates
from domain.scheduling.explaining.granted import why_granted
from domain.scheduling.explaining.refusals import refusals, viable
from domain.scheduling.explaining.waiting import WaitingOptions, why_it_waits
from domain.scheduling.supply.reasons import TO_BE_ASKED
from domain.scheduling.world.triggers import NEW_JOB
from domain.system.usage import is_open, is_usable, why_not_usable
from tests.domain.scheduling import history
from tests.domain.scheduling.policies import everybody, group, user
from tests.domain.scheduling.world import World

SEEDS = range(12)
ENTRIES = (everybody("Low"), everybody("Medium"), group("qe"), group("qe", "High"), user("eve", "High"))


@cache
def with_policies(seed: int) -> World:
    """At rest, at a random moment of a history in which who may submit where changes, too."""
    chance, world = Random(seed), history.begin(seed)
    world.put_group("qe", "ada", "eve")
    for _ in range(25):
        history.burst(chance, world)
        if chance.random() < 0.4:
            world.open_pool(chance.choice(history.POOLS), *_entries(chance))
        if chance.random() < 0.2 and world.systems:
            world.open_system(chance.choice(list(world.systems)), *_entries(chance))
        world.settle()
        for host in waiting(world)[:1]:
            # What was counted for one question is kept in step for the next.
            why_it_waits(world.partition, host, WaitingOptions(1))
    return world


def _entries(chance: Random) -> list[Form]:
    return chance.sample(ENTRIES, chance.randrange(3))


def waiting(world: World) -> list[Recipe]:
    hosts = (one for one in world.in_state("queued", "assigned") if one.host_recipe_id is None)
    return [world.partition.sets.recipes[one.recipe_id] for one in hosts]


@pytest.mark.parametrize("seed", SEEDS)
def test_viable__by_all_rules_told_system_by_system__is_what_the_scheduler_takes(seed: int) -> None:
    world = with_policies(seed)
    partition = world.partition
    for host in waiting(world):
        told = refusals(partition.labs, partition.sets.demand(host))
        assert viable(partition.labs, told) == partition.viable(host)
        everything = why_it_waits(partition, host, WaitingOptions(1_000))
        named = {one.fqdn for one in everything.systems if one.verdict == NOT_NOW or one.before is not None}
        assert named >= {partition.labs.names[number] for number in numbers_in(partition.viable(host))}
        assert everything.rules[-1].left == everything.counted.viable


@pytest.mark.parametrize("seed", SEEDS)
def test_before__counted_by_kinds_of_systems__is_who_the_system_asks_first(seed: int) -> None:
    world = with_policies(seed)
    partition = world.partition
    for host in waiting(world):
        told = refusals(partition.labs, partition.sets.demand(host))
        candidates, rank = Candidates(partition, host, told), partition.sets.rank(host)
        for number in numbers_in(partition.usable(host)):
            system = partition.system(number)
            if host.lab_controller not in (None, system.lab_controller):
                continue
            order = list(ranks_for_system(partition, system))
            assert candidates.before(number) == order.index(rank)
            ahead = [one.recipe_id for one in candidates.viable(number).ahead]
            assert ahead == [other[-1] for other in order[: order.index(rank)]][:3]


@pytest.mark.parametrize("seed", SEEDS)
def test_waiting__at_rest__nobody_is_told_that_a_system_is_about_to_be_asked(seed: int) -> None:
    """That it is passed over, and why, is all that can keep a recipe from it."""
    world = with_policies(seed)
    for host in waiting(world):
        told = why_it_waits(world.partition, host, WaitingOptions(1_000)).systems
        assert not [one for one in told if TO_BE_ASKED in one.reasons]


def test_histories__as_they_are_made__have_recipes_that_wait_and_order_that_policies_decide() -> None:
    """Else the tests above would compare nothing."""
    worlds = list(map(with_policies, SEEDS))
    told = [
        one
        for world in worlds
        for host in waiting(world)
        for one in why_it_waits(world.partition, host, WaitingOptions(1_000)).systems
    ]
    assert {one.verdict for one in told} >= {"not allowed", "not now"}
    assert any(ahead.by.startswith("effective priority") for one in told for ahead in one.ahead)
    assert any(one.before for one in told)


@pytest.mark.parametrize("seed", SEEDS)
def test_granted__each_decision_made_again__tells_the_system_that_it_got_first(seed: int) -> None:
    chance, world = Random(seed), history.begin(seed)
    compared = 0
    for _ in range(40):
        history.burst(chance, world)
        while decisions := world.decide(500):
            for decision in decisions:
                for subject, event in decision.events:
                    if isinstance(event, RecipeScheduled) and not _is_guest(world, subject):
                        recipe_id = int(subject.partition("/")[2])
                        told = why_granted(world.partition, recipe_id, world.now, len(decisions))
                        assert told is not None and told.system == event.system
                        assert told.cause == decision.trigger.cause
                        compared += 1
                        if decision.trigger.kind == NEW_JOB:
                            assert told.choices[0].fqdn == event.system
            world.settle()
    assert compared > 0
    assert why_granted(world.partition, 1, world.now, 500) is None


def _is_guest(world: World, subject: str) -> bool:
    return world.partition.sets.recipes[int(subject.partition("/")[2])].is_guest


@pytest.mark.parametrize("condition", ["Automated", "Manual", "Broken", "Removed"])
@pytest.mark.parametrize("lab_enabled", [True, False])
@pytest.mark.parametrize("draining", [True, False])
def test_usable__what_is_told_and_what_is_asked__are_the_same(
    world: World, condition: str, lab_enabled: bool, draining: bool
) -> None:
    world.add_system("a", condition="Manual")
    for reserved in (False, True):
        if reserved:
            world.reserve("a")
        world.set_condition("a", condition)
        if draining:
            world.drain("a")
        system = world.partition.systems["a"]
        closed = list(why_not_usable(system, lab_enabled=lab_enabled, forced=True))
        assert is_open(system, lab_enabled) == (not closed)
        unusable = list(why_not_usable(system, lab_enabled=lab_enabled, forced=False))
        assert is_usable(system, lab_enabled) == (not unusable)
        world.set_condition("a", "Manual")
        world.undrain("a")
