"""Explanations agree with decisions, over long random histories."""

from __future__ import annotations

from functools import cache
from random import Random

import pytest

from domain.access.policy import Form
from domain.admission.configuration import ALWAYS, WITHIN_PRIORITY
from domain.contention.cells import BEST
from domain.contention.locks import LEVELS
from domain.contention.weights import (
    cells_beside,
    shown_cells,
    shown_thousandths,
    static_weight,
    worst_cells,
)
from domain.recipe.events import RecipeScheduled
from domain.recipe.state import Recipe
from domain.scheduling.bitsets.bitmaps import numbers_in
from domain.scheduling.explaining.candidates import NOT_NOW, Candidates
from domain.scheduling.explaining.claimants import places_with_claimant
from domain.scheduling.explaining.granted import why_granted
from domain.scheduling.explaining.refusals import refusals, viable_systems
from domain.scheduling.explaining.shown_weights import weight_of_set
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
    """Return a world at rest after a random history that also changes access policies.

    Odd seeds have the order `always`; every third history has resource locks.
    """
    chance, world = Random(seed), history.begin(seed)
    world.configure(order={"assigned_first": (WITHIN_PRIORITY, ALWAYS)[seed % 2]})
    world.put_group("qe", "ada", "eve")
    for _ in range(25):
        history.burst(chance, world, () if seed % 3 else history.CONTENDED)
        if chance.random() < 0.4:
            world.open_pool(chance.choice(history.POOLS), *_entries(chance))
        if chance.random() < 0.2 and world.systems:
            world.open_system(chance.choice(list(world.systems)), *_entries(chance))
        world.settle()
        for host in waiting(world)[:1]:
            # Counts that one explanation made stay up to date for the next.
            why_it_waits(world.partition, host, WaitingOptions(1))
    return world


def _entries(chance: Random) -> list[Form]:
    return chance.sample(ENTRIES, chance.randrange(3))


def waiting(world: World) -> list[Recipe]:
    hosts = (one for one in world.in_state("queued", "assigned") if one.host_recipe_id is None)
    return [world.partition.sets.recipes[one.recipe_id] for one in hosts]


@pytest.mark.parametrize("seed", SEEDS)
def test_viable__all_rules_system_by_system__equals_scheduler(seed: int) -> None:
    world = with_policies(seed)
    partition = world.partition
    for host in waiting(world):
        refused = refusals(partition.labs, partition.sets.index.demand(host))
        assert viable_systems(partition.labs, refused) == partition.viable(host)
        everything = why_it_waits(partition, host, WaitingOptions(1_000))
        named = {one.fqdn for one in everything.systems if one.verdict == NOT_NOW or one.before is not None}
        assert named >= {partition.labs.names[number] for number in numbers_in(partition.viable(host))}
        assert everything.rules[-1].left == everything.counted.viable


@pytest.mark.parametrize("seed", SEEDS)
def test_before__counted_by_kind_of_system__equals_rank_order_of_system(seed: int) -> None:
    world = with_policies(seed)
    partition = world.partition
    for host in waiting(world):
        refused = refusals(partition.labs, partition.sets.index.demand(host))
        candidates, rank = Candidates(partition, host, refused), partition.sets.rank(host)
        for number in numbers_in(partition.usable(host)):
            system = partition.system(number)
            if host.lab_controller not in (None, system.lab_controller):
                continue
            order = [place.rank for _, place in places_with_claimant(partition, system)]
            assert candidates.before(number) == order.index(rank)
            ahead = [one.recipe_id for one in candidates.viable(number).ahead]
            assert ahead == [other[-1] for other in order[: order.index(rank)]][:3]


@pytest.mark.parametrize("seed", SEEDS)
def test_weight__of_each_waiting_set__is_that_beside_each_placed_recipe_of_others(seed: int) -> None:
    world = with_policies(seed)
    weighing, sets = world.partition.filters.weighing, world.partition.sets
    settings = weighing.settings
    for host in waiting(world):
        answer = weight_of_set(world.partition, host.recipe_set_id)
        others = {
            number: placed.locks
            for number, placed in weighing.placed()
            if placed.recipe_set_id != host.recipe_set_id
        }
        assert (answer is None) == (not settings.is_enabled)
        if answer is None:
            continue
        profile = sets.sets[host.recipe_set_id].profile
        plain = worst_cells(profile, others.values())
        assert answer.cells == shown_cells(plain, settings)
        assert answer.static_weight == shown_thousandths(static_weight(plain, settings))
        for level, worst, cell in zip(LEVELS, answer.worst_recipes.values(), plain, strict=True):
            if worst is None:
                assert cell == BEST or profile.whole_lab
            else:
                assert cells_beside(profile, others[worst])[LEVELS.index(level)] == cell


@pytest.mark.parametrize("seed", SEEDS)
def test_waiting__at_rest__never_about_to_be_asked(seed: int) -> None:
    """An idle viable system is refused to a recipe only if it is passed over, with a reason."""
    world = with_policies(seed)
    for host in waiting(world):
        answer = why_it_waits(world.partition, host, WaitingOptions(1_000)).systems
        assert not [one for one in answer if TO_BE_ASKED in one.reasons]


def test_histories__generated__have_waiting_recipes_and_effective_priorities() -> None:
    """Check that the tests above have something to compare."""
    worlds = list(map(with_policies, SEEDS))
    answer = [
        one
        for world in worlds
        for host in waiting(world)
        for one in why_it_waits(world.partition, host, WaitingOptions(1_000)).systems
    ]
    assert {one.verdict for one in answer} >= {"not allowed", "not now"}
    criteria = [ahead.by for one in answer for ahead in one.ahead]
    for criterion in ("effective priority", "weight"):
        assert any(by.startswith(criterion) for by in criteria)
    assert any(one.before for one in answer)


@pytest.mark.parametrize("seed", SEEDS)
def test_granted__each_decision_recomputed__granted_system_first(seed: int) -> None:
    chance, world = Random(seed), history.begin(seed)
    compared = 0
    for _ in range(40):
        history.burst(chance, world)
        while decisions := world.decide(500):
            for decision in decisions:
                for subject, event in decision.events:
                    if isinstance(event, RecipeScheduled) and not _is_guest(world, subject):
                        recipe_id = int(subject.partition("/")[2])
                        answer = why_granted(world.partition, recipe_id, world.now, len(decisions))
                        assert answer is not None and answer.system == event.system
                        assert answer.cause == decision.trigger.cause
                        compared += 1
                        if decision.trigger.kind == NEW_JOB:
                            assert answer.choices[0].fqdn == event.system
            world.settle()
    assert compared > 0
    assert why_granted(world.partition, 1, world.now, 500) is None


def _is_guest(world: World, subject: str) -> bool:
    return world.partition.sets.recipes[int(subject.partition("/")[2])].is_guest


@pytest.mark.parametrize("condition", ["Automated", "Manual", "Broken", "Removed"])
@pytest.mark.parametrize("lab_enabled", [True, False])
@pytest.mark.parametrize("draining", [True, False])
def test_usable__explanation_and_scheduler__agree(
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
