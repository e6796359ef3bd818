"""Properties of weights in the order: what they change, and what they do not."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

import pytest

from domain.scheduling.decisions.system_order import places_for_system
from domain.scheduling.demand.lines import QUEUED
from domain.scheduling.demand.order import Place
from domain.scheduling.world.partition import Partition
from tests.domain.scheduling.history import ADMITTED, CONTENDED, begin, burst
from tests.domain.scheduling.host_requirements import named
from tests.domain.scheduling.labs import occupy
from tests.domain.scheduling.world import World

VLAN: dict[str, Any] = {"network": {"Exclusive": ["vlan-12"]}}


def test_weights__two_conflicting_sets_in_one_commit__second_is_weighed_against_the_first(
    world: World,
) -> None:
    world.add_idle("a", "b")
    runs = occupy(world, "a", "b")
    first, second = world.submit(named("a"), locks=VLAN), world.submit(named("b"), locks=VLAN)
    later = world.submit(named("b"))
    world.settle()
    for recipe_id in runs.values():
        world.complete(recipe_id)
    # One commit grants both systems: `b` goes to the later set, because `first` has the lock by then.
    world.settle(limit=500)
    assert [world.system_of(each) for each in (first, second, later)] == ["a", None, "b"]


def test_start__two_conflicting_sets_in_one_commit__one_starts(world: World) -> None:
    world.add_idle("a", "b")
    both = [world.submit(named(fqdn), locks=VLAN) for fqdn in "ab"]
    world.settle(limit=500)
    assert world.states(*both) == ["waiting", "waiting"]
    assert [world.recipes[each].started for each in both] == [True, False]


@pytest.mark.parametrize("seed", range(6))
def test_order__sets_of_one_profile__older_before_younger(seed: int) -> None:
    """Compare queued recipes of equal priorities on each system, after any change."""
    chance, world = Random(seed), begin(seed)
    compared = 0
    for _ in range(60):
        burst(chance, world, CONTENDED)
        for system in world.systems.values():
            places = [place for _, place in places_for_system(world.partition, system)]
            compared += _compare(world.partition, places)
        world.settle()
    assert compared > 20, "hardly any two sets had one profile"


def _compare(partition: Partition, places: Sequence[Place]) -> int:
    """Compare queued recipes of equal priorities and profile; return the number of comparisons."""
    alike: dict[tuple[Any, ...], list[int]] = {}
    for place in places:
        recipe = partition.sets.recipes[place.rank.recipe_id]
        if partition.sets.places.line_of(recipe) == QUEUED:
            profile = partition.sets.sets[recipe.recipe_set_id].profile
            alike.setdefault((*place[:2], profile), []).append(place.rank.submission)
    for submissions in alike.values():
        assert submissions == sorted(submissions)
    return sum(len(submissions) - 1 for submissions in alike.values())


@pytest.mark.parametrize("seed", range(6))
def test_weights__switched_off__the_same_sets_are_held_back(seed: int) -> None:
    chance, world = Random(seed), begin(seed)
    held = 0
    for _ in range(50):
        burst(chance, world, ADMITTED)
        sections = _sections(world)
        on = _held_back(world, sections, enabled=True)
        assert on == _held_back(world, sections, enabled=False)
        held += len(on)
        world.settle()
    assert held > 20, "hardly any set was held back"


def _sections(world: World) -> dict[str, Any]:
    placed = world.partition.configuration.limits.placed_recipes
    return {"limits": {"placed_recipes": placed}}


def _held_back(world: World, sections: dict[str, Any], *, enabled: bool) -> set[int]:
    """Return the sets that admission holds back, or that have no room, with weights on or off."""
    world.configure(weights={"enabled": enabled}, **sections)
    sets = world.partition.sets
    without_room = {number for number in sets.sets if sets.classes.lacks_room(number)}
    return without_room | set(sets.admission.held_back)
