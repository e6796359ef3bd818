"""Weights in the order of systems: recipes that would only wait for locks come later, but not for ever."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from tests.domain.scheduling.host_requirements import named
from tests.domain.scheduling.labs import finish, occupy
from tests.domain.scheduling.world import World

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
