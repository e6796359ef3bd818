"""Every row of the table of wake-ups, alone: with it somebody gets a system, without any nobody does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from domain.scheduling.wake_ups import WAKE_UPS
from tests.domain.scheduling.labs import occupy, wanting
from tests.domain.scheduling.policies import everybody, group, user
from tests.domain.scheduling.wants import BIG, IN_POOL, forces, named
from tests.domain.scheduling.world import World

LATER = "Low"


def _holds_nothing_for_want_of_b(world: World) -> int:
    """A set that wants a, which is idle, and b, which is away: with a alone it would wait for ever."""
    world.add_idle("a", "b")
    world.set_condition("b", "Manual")
    first, _ = wanting(world, "a", "b")
    assert world.states(first) == ["queued"]
    return first


def _system_added(world: World) -> int:
    world.add_idle("a")
    world.add_system("b", condition="Broken", memory_mb=16_384)
    first, _ = world.submit_set([named("a"), BIG.text])
    world.settle()
    world.add_system("c", memory_mb=16_384)
    return first


def _system_repaired(world: World) -> int:
    first = _holds_nothing_for_want_of_b(world)
    world.set_condition("b", "Automated")
    return first


def _system_undrained(world: World) -> int:
    world.add_idle("a", "b")
    world.drain("b")
    first, _ = wanting(world, "a", "b")
    world.undrain("b")
    return first


def _system_returned(world: World) -> int:
    first = _holds_nothing_for_want_of_b(world)
    world.reserve("b")
    world.set_condition("b", "Automated")
    world.settle()
    world.give_back("b")
    return first


def _free_for_forced(world: World) -> int:
    world.add_system("m", condition="Manual")
    runs, forcing = world.submit(forces("m")), world.submit(forces("m"))
    world.settle()
    world.complete(runs)
    return forcing


def _back_for_forced(world: World) -> int:
    world.add_idle("m")
    occupy(world, "m")
    forcing = world.submit(forces("m"))
    world.settle()
    world.set_condition("m", "Removed")
    world.settle()
    world.set_condition("m", "Broken")
    return forcing


def _undrained_for_forced(world: World) -> int:
    world.add_system("m", condition="Manual")
    world.drain("m")
    forcing = world.submit(forces("m"))
    world.settle()
    world.undrain("m")
    return forcing


def _recipe_lost_its_system(world: World) -> int:
    world.add_idle("a", "b", "c")
    occupy(world, "c")
    first, _ = wanting(world, "ab", "c")
    assert world.system_of(first) == "a"
    world.set_condition("a", "Broken")
    return first


def _passed_over_for_a_holder_that_is_stuck(world: World) -> tuple[int, int]:
    """The first of the set that is stuck, and the first of one that must not begin beside it."""
    world.add_idle("a", "b", "x")
    occupy(world, "x")
    stuck, _ = wanting(world, "a", "x")
    first, _ = world.submit_set([named("b"), named("a")])
    world.set_condition("x", "Broken")
    world.commit_decisions(world.decide(limit=1), world.position)
    assert world.states(stuck, first) == ["scheduled", "queued"]
    return stuck, first


def _set_let_go(world: World) -> int:
    return _passed_over_for_a_holder_that_is_stuck(world)[1]


def _holder_ended(world: World) -> int:
    stuck, first = _passed_over_for_a_holder_that_is_stuck(world)
    world.cancel(stuck)
    return first


def _inventory_changed(world: World) -> int:
    world.add_idle("a")
    world.add_system("b", condition="Broken", memory_mb=16_384)
    recipe_id = world.submit(BIG.text)
    world.settle()
    world.describe("a", memory_mb=16_384)
    return recipe_id


def _pools_changed(world: World) -> int:
    world.add_idle("a")
    world.add_system("b", condition="Broken", pools=["net"])
    recipe_id = world.submit(IN_POOL.text)
    world.settle()
    world.set_pool("net", "a", True)
    return recipe_id


def _lab_changed(world: World) -> int:
    world.add_lab("lab-2")
    world.add_system("b", condition="Broken")
    world.add_system("a", lab="lab-2")
    recipe_id = world.submit(named("a", "b"))
    world.settle()
    world.move("a", "lab-1")
    return recipe_id


def _tree_arrived(world: World) -> int:
    world.add_lab("lab-2")
    world.put_tree(2, "x86_64", ["lab-2"])
    world.add_system("b", lab="lab-2", condition="Broken")
    world.add_idle("a")
    recipe_id = world.submit(named("a", "b"), tree_id=2)
    world.settle()
    world.put_tree(2, "x86_64", ["lab-1", "lab-2"])
    return recipe_id


def _lab_enabled(world: World) -> int:
    world.add_idle("a")
    world.enable("lab-1", False)
    recipe_id = world.submit(named("a"))
    world.settle()
    world.enable("lab-1", True)
    return recipe_id


def _waits_for_b(world: World, **whose: Any) -> int:
    """It could run on a, which is idle, if it were allowed to; and on b, which is broken."""
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


def _system_opened(world: World) -> int:
    world.add_idle("a")
    world.open_system("a")
    recipe_id = _waits_for_b(world)
    world.open_system("a", user("eve"))
    return recipe_id


def _given_to_who_waits(world: World) -> int:
    world.add_idle("a")
    world.open_system("a")
    recipe_id = _waits_for_b(world)
    world.own("a", "eve")
    return recipe_id


def _lent_to_who_waits(world: World) -> int:
    world.add_idle("a")
    world.open_system("a")
    recipe_id = _waits_for_b(world)
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


CASES: dict[str, Callable[[World], int]] = {
    # What became usable serves one recipe of a set; another took nothing before, as it would have waited.
    "system added": _system_added,
    "system repaired": _system_repaired,
    "system undrained": _system_undrained,
    "system returned by a person": _system_returned,
    "set got a system": _system_repaired,
    # Whoever forces a system waits for it whatever its condition.
    "system free for who forces it": _free_for_forced,
    "removed system is back, for who forces it": _back_for_forced,
    "undrained, for who forces it": _undrained_for_forced,
    # It had one of two that would do.
    "recipe lost its system": _recipe_lost_its_system,
    # Nobody may begin beside a holder that is stuck.
    "set let go": _set_let_go,
    "holder ended": _holder_ended,
    "inventory changed": _inventory_changed,
    "pools changed": _pools_changed,
    "lab of a system changed": _lab_changed,
    "distro tree arrived": _tree_arrived,
    "lab enabled": _lab_enabled,
    # An idle system to which nobody who waits could be submitted before.
    "access policy of a pool changed": _pool_opened,
    "access policy of a system changed": _system_opened,
    "owner of a system changed": _given_to_who_waits,
    "lent": _lent_to_who_waits,
    "loan ended": _loan_to_another_ended,
    "group changed": _back_in_the_group,
}
# Priorities, effective or nominal, say who is first; at an idle system there is nobody who could take it
# (test_priority_changes.py).
LEADS_TO_NOTHING = {"priority changed"}


def after(case: Callable[[World], int], rows: tuple[str, ...]) -> tuple[World, int]:
    world = World(wake_ups=[row for row in WAKE_UPS if row.name in rows])
    world.add_lab("lab-1")
    world.put_tree(1, "x86_64", ["lab-1"])
    recipe_id = case(world)
    world.settle()
    return world, recipe_id


@pytest.mark.parametrize("name", CASES)
def test_wake_up__any_row_alone__leads_to_a_grant_that_nothing_else_leads_to(name: str) -> None:
    world, recipe_id = after(CASES[name], rows=(name,))
    assert world.system_of(recipe_id) is not None
    without, recipe_id = after(CASES[name], rows=())
    assert without.system_of(recipe_id) is None


def test_wake_ups__every_row__has_a_case() -> None:
    assert CASES.keys() | LEADS_TO_NOTHING == {row.name for row in WAKE_UPS}


def test_wake_up__somebody_takes_it__is_one_commit_from_idle_to_scheduled(world: World) -> None:
    recipe_id = _lab_enabled(world)
    (decision,) = world.settle()
    assert decision.trigger.name == "lab-controller/lab-1"
    assert [event.TOPIC for _, event in decision.events][:2] == ["recipe.scheduled", "system.scheduled"]
    assert world.states(recipe_id) == ["waiting"]


def test_wake_up__several_idle_systems_are_wanted__each_is_a_decision_of_its_own(world: World) -> None:
    world.add_idle("a", "b", "c")
    world.enable("lab-1", False)
    low, high = world.submit(named("a", "b"), priority=LATER), world.submit(named("a", "b"))
    world.settle()
    world.enable("lab-1", True)
    decisions = world.settle()
    assert [world.system_of(recipe_id) for recipe_id in (high, low)] == ["a", "b"]
    assert {decision.trigger for decision in decisions} == {decisions[0].trigger}
    assert len(decisions) == 2


def test_wake_up__forced_system_undrained_and_taken_by_another__its_sibling_may_have_its_own_now(
    world: World,
) -> None:
    # Nobody could complete the set without m. When it is there again somebody else has it first, but it will
    # come free: so z is safe, and has to be asked about with m.
    world.add_system("m", condition="Manual")
    world.add_idle("z")
    world.drain("m")
    urgent = world.submit(forces("m"), priority="Urgent")
    forcing, other = world.submit_set([forces("m"), named("z")])
    world.settle()
    assert world.states(urgent, forcing, other) == ["queued"] * 3
    world.undrain("m")
    world.settle()
    assert world.states(urgent, forcing, other) == ["waiting", "assigned", "scheduled"]
