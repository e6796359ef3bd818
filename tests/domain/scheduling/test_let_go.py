"""Holders that release their systems, and the order in which they do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from domain.scheduling.decisions.decide import decide
from domain.scheduling.supply.reasons import LET_GO
from replay.audit import from_recorded
from tests.domain.scheduling.host_requirements import BIG, IN_POOL, forces, in_pool, named
from tests.domain.scheduling.labs import finish, occupy, one_lab, wanting
from tests.domain.scheduling.policies import group
from tests.domain.scheduling.rules import LETTING_GO, rules
from tests.domain.scheduling.world import World
from tests.replay.audit.sound import assert_sound

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


def _recipe_changed(world: World) -> int:
    """Let the other recipe of the holder want a system that is broken."""
    world.add_idle("a", "x")
    world.add_system("b", condition="Broken")
    occupy(world, "x")
    first, other = world.submit_set([named("a"), named("x")])
    world.settle()
    assert world.states(first) == ["scheduled"]
    world.change_recipe(other, host_requires=named("b"))
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
    ("recipe changed", _recipe_changed),
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


def test_let_go__holder__releases_all_in_one_decision_with_the_reason(world: World) -> None:
    world.add_idle("a", "b", "x")
    occupy(world, "x")
    ids = world.submit_set([named("a"), named("b"), named("x")], guests={0: [1]})
    world.settle()
    world.set_condition("x", "Broken")
    decisions = world.settle()
    assert [(subject, event.TOPIC) for subject, event in decisions[0].events] == [
        *((f"recipe/{recipe_id}", "recipe.queued") for recipe_id in (ids[0], ids[0] + 1, *ids[1:])),
        *((f"system/{fqdn}", "system.pending") for fqdn in ("a", "b")),
    ]
    assert decisions[0].events[0][1].reason == LET_GO  # type: ignore[attr-defined]
    assert (decisions[0].trigger.kind, decisions[0].trigger.name) == ("let-go", "lab-1")


def cycle(world: World, *priorities: str) -> list[int]:
    """Make one set per priority, each holding one system and wanting that of the next; return first recipes.

    Each set also fits a busy spare system; when the spare systems break, the sets wait in a cycle.
    """
    own, spare = "abc"[: len(priorities)], "xyz"[: len(priorities)]
    pools = [f"pool-{fqdn}" for fqdn in own]
    world.add_idle(*own, *spare)
    for pool, fqdn in zip(pools, spare, strict=True):
        world.set_pool(pool, fqdn, True)
    occupy(world, *spare)
    firsts = []
    for fqdn, pool, priority in zip(own, pools, priorities, strict=True):
        firsts.append(world.submit_set([named(fqdn), in_pool(pool)], priority=priority)[0])
    world.settle()
    for pool, following in zip(pools, own[1:] + own[0], strict=True):
        world.set_pool(pool, following, True)
    for fqdn in spare:
        assert world.settle() == [], "as long as one has a spare one, all can be completed"
        world.set_condition(fqdn, "Broken")
    assert world.states(*firsts) == ["scheduled"] * len(firsts)
    return firsts


# Priorities in the order of submission, and the holder that lets go.
WHO = [
    # The latest one among equally urgent ones.
    (("Normal", "Normal"), 1),
    (("Normal", "Normal", "Normal"), 2),
    # The least urgent one, even if it is the earliest.
    (("Low", "Normal"), 0),
    (("High", "Low", "Normal"), 1),
    (("High", "Low", "Low"), 2),
]


@pytest.mark.parametrize(("priorities", "gone"), WHO)
def test_let_go__cycle_of_holders__only_the_least_urgent_latest(
    world: World, priorities: tuple[str, ...], gone: int
) -> None:
    firsts = cycle(world, *priorities)
    (decision, *_) = world.settle()
    let_go = {subject for subject, event in decision.events if event.TOPIC == "recipe.queued"}
    assert let_go == {f"recipe/{firsts[gone]}", f"recipe/{firsts[gone] + 1}"}
    # Its systems complete the holder that waited for them, and so on around the cycle.
    started: list[int] = []
    while placed := world.in_state("waiting"):
        started += [recipe.recipe_id for recipe in placed]
        finish(world, *(recipe.recipe_id for recipe in placed))
    assert set(started) >= set(firsts)
    assert_sound(from_recorded(world.log))


def test_let_go__two_cycles_after_one_failure__one_holder_of_each(world: World) -> None:
    world.add_idle("a", "b", "c", "d", "x")
    occupy(world, "x")
    pools = {"a": "b", "b": "a", "c": "d", "d": "c"}
    for pool in pools:
        world.set_pool(pool, "x", True)
    firsts = [world.submit_set([named(fqdn), in_pool(fqdn)])[0] for fqdn in pools]
    world.settle()
    for pool, following in pools.items():
        world.set_pool(pool, following, True)
    assert world.settle() == []
    world.set_condition("x", "Broken")
    (decision, *_) = world.settle()
    queued = [subject for subject, event in decision.events if event.TOPIC == "recipe.queued"]
    # The latest holder first, then the latest of the remaining cycle.
    gone = [firsts[3], firsts[3] + 1, firsts[1], firsts[1] + 1]
    assert queued == [f"recipe/{recipe_id}" for recipe_id in gone]


def test_let_go__impossible_holder__before_any_less_urgent_one(world: World) -> None:
    world.add_idle("a", "b", "x", "y")
    occupy(world, "x", "y")
    hopeless = wanting(world, "a", "x", priority="Urgent")
    behind = wanting(world, "b", "a", priority="Low")
    assert world.states(*hopeless, *behind) == ["scheduled", "assigned"] * 2
    world.set_condition("x", "Broken")
    world.settle()
    # The other holder waited only for the released system.
    assert world.states(*hopeless, *behind) == ["queued", "queued", "waiting", "waiting"]


def test_let_go__several_impossible_holders__all_in_one_decision(world: World) -> None:
    world.add_idle("a", "b", "x")
    occupy(world, "x")
    first, second = wanting(world, "a", "x"), wanting(world, "b", "x")
    assert world.states(*first, *second) == ["scheduled", "assigned"] * 2
    world.set_condition("x", "Broken")
    (decision, *_) = world.settle()
    queued = [subject for subject, event in decision.events if event.TOPIC == "recipe.queued"]
    assert queued == [f"recipe/{recipe_id}" for recipe_id in (*first, *second)]


def test_let_go__refused_commit_would_have_started_one_of_them__order_is_that_after_a_restart(
    world: World,
) -> None:
    world.add_idle("a", "b", "x")
    runs = occupy(world, "x")
    wanting(world, "a", "x")
    wanting(world, "b", "x")
    world.complete(runs["x"])
    (starts,) = world.decide()
    assert starts.events[-1][1].TOPIC == "system.waiting"
    world.set_condition("x", "Broken")
    assert decide(world.refolded(), 1) == world.decide()


def test_let_go__completable_holder__keeps_its_systems(world: World) -> None:
    world.add_idle("a", "x", "y")
    occupy(world, "x", "y")
    ids = wanting(world, "a", "xy")
    world.set_condition("x", "Broken")
    assert [decision.trigger.kind for decision in world.settle()] == []
    assert world.states(*ids) == ["scheduled", "assigned"]


def test_let_go__holder_of_another_lab__unchanged(world: World) -> None:
    world.add_lab("lab-2")
    world.put_tree(1, "x86_64", ["lab-1", "lab-2"])
    world.add_system("c", lab="lab-2")
    world.add_system("y", lab="lab-2")
    world.add_idle("a", "x")
    occupy(world, "x", "y")
    here, there = wanting(world, "a", "x"), wanting(world, "c", "y")
    world.enable("lab-1", False)
    world.settle()
    assert world.states(*here, *there) == ["queued", "queued", "scheduled", "assigned"]


def test_let_go__recipes_that_are_queued_again__keep_their_place(world: World) -> None:
    world.add_idle("a", "x")
    runs = occupy(world, "x")
    ids = wanting(world, "a", "x")
    world.set_condition("x", "Broken")
    world.settle()
    # Later recipes rank behind these.
    taken = occupy(world, "a")
    later = world.submit(named("a"))
    world.settle()
    world.set_condition("x", "Automated")
    world.settle()
    finish(world, taken["a"])
    assert world.states(*ids, later) == ["waiting", "waiting", "queued"]
    assert world.states(runs["x"]) == ["aborted"]


def test_let_go__system_that_is_not_automated__becomes_idle_and_not_pending(world: World) -> None:
    world.add_system("m", condition="Manual")
    world.add_idle("a", "x")
    occupy(world, "a", "x")
    first, *_ = world.submit_set([forces("m"), named("a"), named("x")])
    world.settle()
    assert world.system_of(first) == "m"
    world.set_condition("x", "Broken")
    (decision, *_) = world.settle()
    assert [event.TOPIC for subject, event in decision.events if subject == "system/m"] == ["system.idle"]


def test_let_go__no_stuck_holder__no_events(world: World) -> None:
    world.add_idle("a", "x")
    world.set_condition("x", "Broken")
    before = list(world.log)
    assert decide(world.partition, limit=500) == []
    assert world.log == before
    assert not world.partition.triggers
