"""Every cause after which a holder can no longer be completed and releases its systems."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.domain.scheduling.host_requirements import BIG, IN_POOL, forces, named
from tests.domain.scheduling.labs import occupy, one_lab
from tests.domain.scheduling.policies import group
from tests.domain.scheduling.rules import LETTING_GO, rules
from tests.domain.scheduling.world import World

# Each case makes a holder, changes the lab, and returns a recipe of the holder that had a system.


def _holder(world: World, other: str = named("x"), **more: Any) -> int:
    """Return a recipe of a set that holds a and also wants x, which is busy."""
    occupy(world, "x")
    return _holds_a(world, other, **more)


def _holds_a(world: World, other: str = named("x"), **more: Any) -> int:
    first, _ = world.submit_set([named("a"), other], **more)
    world.settle()
    assert world.states(first) == ["scheduled"]
    return first


def _condition(world: World) -> int:
    world.add_idle("a", "x")
    first = _holder(world)
    world.set_condition("x", "Broken")
    return first


def _drained(world: World) -> int:
    world.add_idle("a", "x")
    first = _holder(world)
    world.drain("x")
    return first


def _reserved(world: World) -> int:
    # A recipe forces the Manual system; when the system comes free, a person reserves it first.
    world.add_idle("a")
    world.add_system("m", condition="Manual")
    runs = world.submit(forces("m"))
    world.settle()
    first = _holds_a(world, forces("m"))
    world.complete(runs)
    world.reserve("m")
    return first


def _inventory(world: World) -> int:
    world.add_idle("a")
    world.add_system("x", memory_mb=16_384)
    world.settle()
    first = _holder(world, BIG.text)
    world.describe("x", memory_mb=1_024)
    return first


def _pools(world: World) -> int:
    world.add_idle("a")
    world.add_system("x", pools=["net"])
    world.settle()
    first = _holder(world, IN_POOL.text)
    world.set_pool("net", "x", False)
    return first


def _tree_changed(world: World) -> int:
    world.put_tree(2, "x86_64", ["lab-1"])
    world.add_idle("a", "x")
    first = _holder(world, tree_id=2)
    world.put_tree(2, "x86_64", [])
    return first


def _tree_removed(world: World) -> int:
    world.put_tree(2, "x86_64", ["lab-1"])
    world.add_idle("a", "x")
    first = _holder(world, tree_id=2)
    world.remove_tree(2)
    return first


def _lab_disabled(world: World) -> int:
    world.add_idle("a", "x")
    first = _holder(world)
    world.enable("lab-1", False)
    return first


def _lab_silent(world: World) -> int:
    world.add_idle("a", "x")
    first = _holder(world)
    world.fall_silent("lab-1")
    return first


def _lab_changed(world: World) -> int:
    """Move the other system to another lab as soon as it is free."""
    world.add_lab("lab-2")
    world.add_idle("a", "x")
    first = _holder(world)
    world.complete(1)
    world.move("x", "lab-2")
    return first


def _withdrawn(world: World) -> int:
    """Break one of the two systems of the holder; no other one fits."""
    world.add_idle("a", "b", "x")
    occupy(world, "x")
    first, second, _ = world.submit_set([named("a"), named("b"), named("x")])
    world.settle()
    assert world.states(first, second) == ["scheduled", "scheduled"]
    world.set_condition("b", "Broken")
    return first


def _pool_closed(world: World) -> int:
    world.add_idle("a")
    world.add_system("x", pools=["net"])
    world.settle()
    first = _holder(world, owner="eve")
    world.open_pool("net", group("qe"))
    return first


def _system_closed(world: World) -> int:
    world.add_idle("a", "x")
    first = _holder(world, owner="eve")
    world.open_system("x")
    return first


def _given_to_another(world: World) -> int:
    world.add_idle("a", "x")
    world.own("x", "eve")
    occupy(world, "x")
    world.open_system("x")
    first = _holds_a(world, owner="eve")
    world.own("x", "ada")
    return first


def _lent(world: World) -> int:
    world.add_idle("a", "x")
    first = _holder(world, owner="eve")
    world.lend("x", "bob")
    return first


def _loan_ended(world: World) -> int:
    """End the loan that gave the owner of the set access to the system."""
    world.add_idle("a", "x")
    world.open_system("x")
    world.lend("x", "eve")
    world.submit(named("x"), owner="eve")
    world.settle()
    first = _holds_a(world, owner="eve")
    world.end_loan("x")
    return first


def _left_the_group(world: World) -> int:
    world.put_group("qe", "eve")
    world.add_idle("a", "x")
    occupy(world, "x")
    world.open_system("x", group("qe"))
    first = _holds_a(world, owner="eve", group="qe")
    world.put_group("qe")
    return first


CASES: list[tuple[str, Callable[[World], int]]] = [
    ("condition changed", _condition),
    ("system drained", _drained),
    ("reserved by a person", _reserved),
    ("inventory changed", _inventory),
    ("lab of a system changed", _lab_changed),
    ("pools changed", _pools),
    ("distro tree changed", _tree_changed),
    ("distro tree removed", _tree_removed),
    ("lab disabled", _lab_disabled),
    ("lab silent", _lab_silent),
    ("recipe assigned", _withdrawn),
    ("access policy of a pool changed", _pool_closed),
    ("access policy of a system changed", _system_closed),
    ("owner of a system changed", _given_to_another),
    ("lent", _lent),
    ("loan ended", _loan_ended),
    ("group changed", _left_the_group),
]


def after(case: Callable[[World], int], lets_go: tuple[str, ...]) -> tuple[World, int]:
    world = one_lab(rules(lets_go=lets_go))
    recipe_id = case(world)
    world.settle()
    return world, recipe_id


@pytest.mark.parametrize(("name", "case"), CASES)
def test_let_go__any_row_alone__stuck_holder_lets_go(name: str, case: Callable[[World], int]) -> None:
    world, first = after(case, (name,))
    assert world.states(first) == ["queued"]
    assert world.systems["a"].usage == "idle"
    without, first = after(case, ())
    assert without.states(first) == ["scheduled"]


def test_let_go__every_row__has_a_case() -> None:
    assert {name for name, _ in CASES} == LETTING_GO
