"""Weights as people see them: of recipes, sets, and in the order of a system, at one moment."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from domain.contention.locks import LEVELS
from domain.scheduling.explaining.granted import why_granted
from domain.scheduling.explaining.places import places_on
from domain.scheduling.explaining.shown_weights import SetWeight, weight_of, weight_of_set
from domain.scheduling.explaining.waiting import WaitingOptions, why_it_waits
from tests.domain.scheduling.host_requirements import named
from tests.domain.scheduling.labs import occupy
from tests.domain.scheduling.world import World

VLAN: dict[str, Any] = {"network": {"Exclusive": ["vlan-12"]}}
TICK = timedelta(seconds=30)


class Contended:
    """A lab with vlan-12 in use; an earlier recipe with vlan-12 and a later one without locks wait for b."""

    def __init__(self, world: World) -> None:
        world.add_idle("a", "b", "c")
        self.world = world
        self.holder = world.submit(named("a"), locks=VLAN)
        self.runs = occupy(world, "b", "c")["b"]
        self.earlier = world.submit(named("b"), locks=VLAN)
        self.later = world.submit(named("b"))
        world.settle()
        self.now = world.now

    def weight(self, recipe_id: int, now: datetime) -> float | None:
        self.world.partition.weigh_at(now)
        return weight_of(self.world.partition, self.world.partition.sets.recipes[recipe_id])

    def set_weight(self, recipe_id: int, now: datetime) -> SetWeight | None:
        self.world.partition.weigh_at(now)
        return weight_of_set(self.world.partition, self.world.partition.sets.recipes[recipe_id].recipe_set_id)

    def order(self, now: datetime, **more: Any) -> list[tuple[int, float | None]]:
        places = places_on(self.world.partition, self.world.systems["b"], now, **more)
        return [(place.recipe_id, place.weight) for place in places]


@pytest.fixture
def lab(world: World) -> Contended:
    return Contended(world)


def test_weight__as_ticks_pass__falls_to_zero_at_k(lab: Contended) -> None:
    after = [lab.weight(lab.earlier, lab.now + count * TICK) for count in (0, 3, 29, 30, 31)]
    assert after == [pytest.approx(weight) for weight in (4, 3.6, 4 / 30, 0, 0)]
    assert lab.weight(lab.later, lab.now) == 1
    assert lab.weight(lab.earlier, lab.now - TICK) == 4


def test_weight__switched_off__is_none(lab: Contended) -> None:
    lab.world.configure(weights={"enabled": False})
    assert lab.weight(lab.earlier, lab.now) is None
    assert lab.set_weight(lab.earlier, lab.now) is None
    assert lab.order(lab.now) == [(lab.earlier, None), (lab.later, None)]


def test_set_weight__lock_held_by_another_recipe__names_the_recipe(lab: Contended) -> None:
    answer = lab.set_weight(lab.earlier, lab.now + 3 * TICK)
    assert answer is not None
    assert (answer.weight, answer.static_weight, answer.ticks) == (pytest.approx(3.6), 4, 3)
    assert answer.cells == {**dict.fromkeys(LEVELS, 0), "network": 3}
    assert answer.worst_recipes == {**dict.fromkeys(LEVELS), "network": lab.holder}


def test_set_weight__holder__own_recipes_do_not_count(lab: Contended) -> None:
    world = lab.world
    world.complete(lab.holder)
    holds, waits = world.submit_set([named("a"), named("c")], locks=VLAN)
    world.settle()
    assert world.states(holds, waits) == ["scheduled", "assigned"]
    answer = lab.set_weight(waits, world.now)
    # The other placed recipes hold nothing: an exclusive lock weighs 0.5 beside them.
    assert answer is not None and answer.static_weight == 1.5
    assert answer.worst_recipes == {**dict.fromkeys(LEVELS), "network": lab.runs}
    world.add_idle("d")
    later = world.submit(named("d"), locks=VLAN)
    world.settle()
    answer = lab.set_weight(waits, world.now)
    assert answer is not None and answer.static_weight == 4
    assert answer.worst_recipes == {**dict.fromkeys(LEVELS), "network": later}


def test_set_weight__whole_lab__is_the_worst_of_nobody(lab: Contended) -> None:
    world = lab.world
    recipe_id = world.submit(named("b"), locks={"whole_lab": True})
    world.settle()
    answer = lab.set_weight(recipe_id, world.now)
    assert answer is not None and answer.static_weight == 16
    assert answer.worst_recipes == dict.fromkeys(LEVELS)


def test_set_weight__all_recipes_placed__is_none(lab: Contended) -> None:
    assert lab.set_weight(lab.holder, lab.now) is None


def test_order__at_a_moment__is_weighed_then(lab: Contended) -> None:
    assert lab.order(lab.now) == [(lab.later, 1), (lab.earlier, 4)]
    assert lab.order(lab.now + 30 * TICK) == [(lab.earlier, 0), (lab.later, 0)]


def test_order__second_page_after_ticks__continues_at_the_moment_of_the_first(lab: Contended) -> None:
    (first, _), *_ = lab.order(lab.now)
    key = next(iter(places_on(lab.world.partition, lab.world.systems["b"], lab.now))).key
    lab.world.now += 30 * TICK
    # An event moves the partition on to a later time.
    lab.world.add_system("d")
    lab.world.settle()
    assert [first, *(recipe for recipe, _ in lab.order(lab.now, after=key))] == [lab.later, lab.earlier]
    # With another moment the second page would lack a recipe.
    assert lab.order(lab.world.now, after=key) == []


def test_explanation__waiting__has_weights_at_its_moment(lab: Contended) -> None:
    host = lab.world.partition.sets.recipes[lab.earlier]
    answer = why_it_waits(lab.world.partition, host, WaitingOptions(10, now=lab.now + 3 * TICK))
    ((ahead,),) = (candidate.ahead for candidate in answer.systems)
    assert (answer.weight, ahead.recipe_id, ahead.weight) == (pytest.approx(3.6), lab.later, 0.9)
    assert ahead.by == "weight 0.90 before 3.60"
    later = why_it_waits(lab.world.partition, host, WaitingOptions(10, now=lab.now + 30 * TICK))
    assert (later.weight, later.systems[0].before, later.counted.first_in_order) == (0, 0, 1)


def test_explanation__granted__has_weights_of_the_decision(lab: Contended) -> None:
    lab.world.complete(lab.runs)
    answer = why_granted(lab.world.partition, lab.later, lab.now + 3 * TICK, limit=10)
    assert answer is not None
    (behind,) = answer.behind
    assert (answer.weight, behind.recipe_id, behind.weight) == (0.9, lab.earlier, pytest.approx(3.6))
    assert behind.why == "weight 0.90 before 3.60"
