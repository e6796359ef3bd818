"""Weights in the order of systems: recipes that would only wait for locks come later, but not for ever."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from replay.audit import from_recorded
from tests.domain.scheduling.host_requirements import named
from tests.domain.scheduling.labs import finish, occupy
from tests.domain.scheduling.world import World
from tests.replay.audit.sound import assert_sound

VLAN: dict[str, Any] = {"network": {"Exclusive": ["vlan-12"]}}


Contended = tuple[World, int, int, int]


@pytest.fixture
def contended(world: World) -> Contended:
    """Return a lab with vlan-12 and b in use, and two recipes that wait for b, the earlier with vlan-12."""
    world.add_idle("a", "b")
    world.submit(named("a"), locks=VLAN)
    runs = occupy(world, "b")["b"]
    earlier = world.submit(named("b"), locks=VLAN)
    later = world.submit(named("b"))
    world.settle()
    assert world.states(earlier, later) == ["queued", "queued"]
    return world, runs, earlier, later


def test_order__earlier_recipe_would_wait_for_a_lock__later_one_goes_first(
    contended: Contended,
) -> None:
    world, runs, earlier, later = contended
    finish(world, runs)
    assert (world.system_of(later), world.states(earlier)) == ("b", ["queued"])


def test_order__earlier_recipe_has_waited_k_ticks__goes_first(contended: Contended) -> None:
    world, runs, earlier, later = contended
    world.now += timedelta(minutes=15)
    finish(world, runs)
    assert (world.system_of(earlier), world.states(later)) == ("b", ["queued"])


def test_order__weights_switched_off__is_by_submission(contended: Contended) -> None:
    world, runs, earlier, later = contended
    world.configure(weights={"enabled": False})
    finish(world, runs)
    assert (world.system_of(earlier), world.states(later)) == ("b", ["queued"])


@pytest.mark.parametrize(("bound", "first"), [(0, 0), (8, 1), (None, 1)])
def test_new_sets__all_sets_are_owed__are_by_submission(world: World, bound: int | None, first: int) -> None:
    world.add_idle("a", "b")
    world.configure(order={"most_overtaken": bound})
    world.submit(named("a"), locks=VLAN)
    world.settle()
    new = world.submit(named("b"), locks=VLAN), world.submit(named("b"))
    world.settle()
    assert world.system_of(new[first]) == "b"
    assert world.states(new[1 - first]) == ["queued"]
    assert_sound(from_recorded(world.log))
