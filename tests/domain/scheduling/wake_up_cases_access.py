"""Labs with a change of access after which a waiting recipe may have a system.

Each function returns the recipe that gets the system once all triggers are answered.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.domain.scheduling.host_requirements import named
from tests.domain.scheduling.policies import everybody, group, user
from tests.domain.scheduling.world import World


def _waits_for_b(world: World, **whose: Any) -> int:
    """Return a recipe that fits a, which is idle but closed to it, and b, which is broken."""
    world.add_system("b", condition="Broken")
    recipe_id = world.submit(named("a", "b"), owner="eve", **whose)
    world.settle()
    assert world.states(recipe_id) == ["queued"]
    return recipe_id


def _pool_opened(world: World) -> int:
    world.add_system("a", pools=["net"])
    world.open_pool("net", group("qe"))
    recipe_id = _waits_for_b(world)
    world.open_pool("net", group("qe"), everybody())
    return recipe_id


def _without_access_to_a(world: World) -> int:
    """Return a waiting recipe of a user without access to a."""
    world.add_idle("a")
    world.open_system("a")
    return _waits_for_b(world)


def _system_opened(world: World) -> int:
    recipe_id = _without_access_to_a(world)
    world.open_system("a", user("eve"))
    return recipe_id


def _given_to_who_waits(world: World) -> int:
    recipe_id = _without_access_to_a(world)
    world.own("a", "eve")
    return recipe_id


def _lent_to_the_submitter(world: World) -> int:
    recipe_id = _without_access_to_a(world)
    world.lend("a", "eve")
    return recipe_id


def _loan_to_another_ended(world: World) -> int:
    world.add_idle("a")
    world.lend("a", "bob")
    recipe_id = _waits_for_b(world)
    world.end_loan("a")
    return recipe_id


def _back_in_the_group(world: World) -> int:
    world.put_group("qe", "eve")
    world.add_idle("a")
    world.open_system("a", group("qe"))
    world.put_group("qe")
    recipe_id = _waits_for_b(world, group="qe")
    world.put_group("qe", "eve")
    return recipe_id


CASES: list[tuple[str, Callable[[World], int]]] = [
    # An idle system that was closed to all waiting recipes.
    ("access policy of a pool changed", _pool_opened),
    ("access policy of a system changed", _system_opened),
    ("owner of a system changed", _given_to_who_waits),
    ("lent", _lent_to_the_submitter),
    ("loan ended", _loan_to_another_ended),
    ("group changed", _back_in_the_group),
]
