"""Resource locks that are really held: who waits for them, who gets them, and when they come free."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from domain.errors import Refused
from domain.recipe.events import RecipeLocked, RecipeWaiting
from domain.recipe_set.messages import ReportInstalling
from domain.scheduling.decisions.draft import Decision
from domain.scheduling.decisions.timers import Findings, LoopInput, correct
from tests.domain.scheduling.host_requirements import named
from tests.domain.scheduling.labs import one_lab
from tests.domain.scheduling.rules import LOCKING, rules
from tests.domain.scheduling.world import World

Json = dict[str, Any]

VLAN: Json = {"network": {"Exclusive": ["vlan-12"]}}
READ_VLAN: Json = {"network": {"Shared": ["vlan-12"]}}
OTHER: Json = {"network": {"Exclusive": ["vlan-13"]}}
WHOLE_LAB: Json = {"whole_lab": True}
NAMES = "abcdefghijkl"


@pytest.fixture
def lab(world: World) -> World:
    world.add_idle(*NAMES)
    return world


def begin(lab: World, fqdn: str, locks: Json, priority: str = "Normal") -> int:
    """Submit a recipe that takes an idle system at once; return its id."""
    recipe_id = lab.submit(named(fqdn), locks=locks, priority=priority)
    lab.settle()
    assert lab.states(recipe_id) == ["waiting"]
    return recipe_id


def waits(lab: World, *recipe_ids: int) -> list[bool]:
    return [lab.recipes[recipe_id].awaits_locks for recipe_id in recipe_ids]


def end(lab: World, recipe_id: int) -> list[Decision]:
    lab.complete(recipe_id)
    return lab.settle()


# Who may start


@pytest.mark.parametrize(
    ("held", "wanted", "is_waiting"),
    [
        (VLAN, VLAN, True),
        (VLAN, READ_VLAN, True),
        (READ_VLAN, VLAN, True),
        (READ_VLAN, READ_VLAN, False),
        (VLAN, OTHER, False),
        ({}, VLAN, False),
        (VLAN, {}, False),
        (VLAN, {"network": "UnknownShared"}, True),
        ({"network": "UnknownExclusive"}, OTHER, True),
        ({"network": "UnknownShared"}, READ_VLAN, False),
        (VLAN, {"pool": {"Exclusive": ["vlan-12"]}}, False),
        ({"system": {"Exclusive": ["$system"]}}, {"system": {"Exclusive": ["$system"]}}, False),
        ({"system": {"Exclusive": ["$system"]}}, {"system": {"Shared": ["a"]}}, True),
        ({"network": {"Exclusive": ["$lab"]}}, {"network": {"Exclusive": ["$lab"]}}, True),
        ({}, WHOLE_LAB, True),
        (WHOLE_LAB, {}, True),
    ],
)
def test_start__locks_beside_held_ones__waits_if_they_conflict(
    lab: World, held: Json, wanted: Json, is_waiting: bool
) -> None:
    first = begin(lab, "a", held)
    second = begin(lab, "b", wanted)
    assert waits(lab, first, second) == [False, is_waiting]
    end(lab, first)
    assert waits(lab, second) == [False]


def test_start__whole_lab_in_another_lab__is_no_conflict(lab: World) -> None:
    lab.add_lab("lab-2")
    lab.put_tree(1, "x86_64", ["lab-1", "lab-2"])
    lab.add_system("z", lab="lab-2")
    lab.settle()
    begin(lab, "a", {})
    assert waits(lab, begin(lab, "z", WHOLE_LAB)) == [False]


def test_start__pool_of_the_system__is_held_by_its_name(lab: World) -> None:
    lab.set_pool("storage", "a", True)
    own = begin(lab, "a", {"pool": {"Exclusive": ["$pools"]}})
    assert lab.recipes[own].held == lab.partition.locks_of_placed(lab.recipes[own])
    assert waits(lab, begin(lab, "b", {"pool": {"Shared": ["storage"]}})) == [True]


def test_start__members_of_one_set__do_not_conflict(lab: World) -> None:
    ids = lab.submit_set([named("a"), named("b")], locks=VLAN)
    lab.settle()
    assert waits(lab, *ids) == [False, False]


def test_start__set_without_its_locks__gets_none_of_them(lab: World) -> None:
    holder = begin(lab, "a", VLAN)
    ids = lab.submit_set([named("b"), named("c")], locks_of=[VLAN, OTHER], guests={0: [1]})
    lab.settle()
    assert waits(lab, *ids) == [True, True]
    assert waits(lab, begin(lab, "d", OTHER)) == [False]
    lab.cancel(4)
    events = [event for decision in end(lab, holder) for _, event in decision.events]
    assert [event.locks for event in events if isinstance(event, RecipeLocked)] == []


def test_locked__set_with_a_guest__one_decision_for_all_recipes(lab: World) -> None:
    holder = begin(lab, "a", VLAN)
    ids = lab.submit_set([named("b"), named("c")], locks_of=[VLAN, OTHER], guests={0: [1]})
    lab.settle()
    (decision,) = [
        decision
        for decision in end(lab, holder)
        if any(isinstance(event, RecipeLocked) for _, event in decision.events)
    ]
    locks = {subject: event.locks for subject, event in decision.events if isinstance(event, RecipeLocked)}
    guest = ids[0] + 1
    assert locks == {f"recipe/{ids[0]}": VLAN, f"recipe/{guest}": {}, f"recipe/{ids[1]}": OTHER}
    assert waits(lab, *ids, guest) == [False, False, False]


def test_waiting__unknown_names__are_held_as_all(lab: World) -> None:
    holder = begin(lab, "a", {"network": "UnknownExclusive"})
    waiting = [each.event.locks for each in lab.log if isinstance(each.event, RecipeWaiting)]
    assert (waits(lab, holder), waiting) == ([False], [{"network": "AllExclusive"}])


# Who is next


def test_next__several_wait__highest_priority_then_earliest(lab: World) -> None:
    holder = begin(lab, "a", VLAN)
    later, urgent, earlier = (
        begin(lab, "b", VLAN),
        begin(lab, "c", VLAN, priority="Urgent"),
        begin(lab, "d", VLAN),
    )
    order = []
    for _ in range(3):
        end(lab, holder)
        (holder,) = (each for each in (later, urgent, earlier) if lab.recipes[each].started)
        order.append(holder)
    assert order == [urgent, later, earlier]


def test_next__priority_raised_while_it_waits__counts(lab: World) -> None:
    holder = begin(lab, "a", VLAN)
    first, second = begin(lab, "b", VLAN), begin(lab, "c", VLAN)
    lab.change_priority(second, "Urgent")
    end(lab, holder)
    assert waits(lab, first, second) == [True, False]


@pytest.mark.parametrize("bound", [0, 1, 3])
def test_next__later_sets_of_shared_locks__overtake_up_to_the_bound(lab: World, bound: int) -> None:
    lab.configure(locks={"most_overtaken": bound})
    begin(lab, "a", READ_VLAN)
    writer = begin(lab, "b", VLAN)
    readers = [begin(lab, fqdn, READ_VLAN) for fqdn in NAMES[2 : 2 + bound + 2]]
    assert waits(lab, writer, *readers) == [True] + [False] * bound + [True, True]
    assert lab.partition.locks.is_owed(1) is False


def test_next__higher_priority_overtakes__is_no_overtaking(lab: World) -> None:
    lab.configure(locks={"most_overtaken": 1})
    begin(lab, "a", READ_VLAN)
    begin(lab, "b", VLAN, priority="Low")
    readers = [begin(lab, fqdn, READ_VLAN, priority="High") for fqdn in "cdef"]
    assert waits(lab, *readers) == [False] * 4
    assert lab.partition.locks.overtaken == {}


def test_next__owed_set_ends__the_others_get_their_locks(lab: World) -> None:
    lab.configure(locks={"most_overtaken": 0})
    begin(lab, "a", READ_VLAN)
    writer, reader = begin(lab, "b", VLAN), begin(lab, "c", READ_VLAN)
    lab.cancel(writer)
    lab.settle()
    assert waits(lab, reader) == [False]


def test_next__bound_is_raised__the_others_get_their_locks(lab: World) -> None:
    lab.configure(locks={"most_overtaken": 0})
    begin(lab, "a", READ_VLAN)
    _, reader = begin(lab, "b", VLAN), begin(lab, "c", READ_VLAN)
    lab.configure(locks={"most_overtaken": 5})
    lab.settle()
    assert waits(lab, reader) == [False]


def test_next__owed_set_loses_priority__the_others_get_their_locks(lab: World) -> None:
    lab.configure(locks={"most_overtaken": 0})
    begin(lab, "a", READ_VLAN)
    writer, reader = begin(lab, "b", VLAN), begin(lab, "c", READ_VLAN)
    lab.change_priority(writer, "Low")
    lab.settle()
    assert waits(lab, writer, reader) == [True, False]


def test_next__whole_lab_is_owed__nothing_starts_in_the_lab(lab: World) -> None:
    lab.configure(locks={"most_overtaken": 1})
    running = begin(lab, "a", {})
    whole = begin(lab, "b", WHOLE_LAB)
    first, second = begin(lab, "c", {}), begin(lab, "d", {})
    assert waits(lab, whole, first, second) == [True, False, True]
    end(lab, running)
    end(lab, first)
    assert waits(lab, whole, second) == [False, True]
    end(lab, whole)
    assert waits(lab, second) == [False]


# What happens to a set that waits for its locks


@pytest.fixture
def waiting(lab: World) -> tuple[World, int, int, int]:
    """Return a lab, the recipe that holds vlan-12 on `a`, and two recipes of a set that waits on b and c."""
    holder = begin(lab, "a", VLAN)
    begin(lab, "l", {})
    first, second = lab.submit_set([named("b", "l"), named("c")], locks=VLAN)
    lab.settle()
    assert waits(lab, first, second) == [True, True]
    return lab, holder, first, second


Waiting = tuple[World, int, int, int]


def test_waiting__before_and_after_the_locks__has_a_watchdog_only_after(waiting: Waiting) -> None:
    lab, holder, first, second = waiting
    assert [lab.recipes[each].deadline for each in (first, second)] == [None, None]
    end(lab, holder)
    assert None not in [lab.recipes[each].recorded_deadline for each in (first, second)]


def test_waiting__report_of_installing__is_refused(waiting: Waiting) -> None:
    lab, _, first, _ = waiting
    with pytest.raises(Refused, match="waits for its resource locks"):
        lab.report(first, ReportInstalling())


def test_waiting__system_breaks__is_withdrawn_and_siblings_are_scheduled_again(waiting: Waiting) -> None:
    lab, holder, first, second = waiting
    lab.set_condition("b", "Broken")
    lab.settle()
    assert lab.states(first, second) == ["assigned", "scheduled"]
    assert (lab.system_of(second), lab.systems["c"].usage) == ("c", "scheduled")
    end(lab, holder)
    other = begin(lab, "d", VLAN)
    lab.set_condition("b", "Automated")
    lab.settle()
    assert waits(lab, other, first, second) == [False, True, True]
    end(lab, other)
    assert waits(lab, first, second) == [False, False]


def test_waiting__only_system_breaks__is_queued(lab: World) -> None:
    begin(lab, "a", VLAN)
    only = begin(lab, "b", VLAN)
    lab.set_condition("b", "Broken")
    assert lab.states(only) == ["queued"]


def test_waiting__lab_aborts_one_recipe__whole_set_ends(waiting: Waiting) -> None:
    lab, _, first, second = waiting
    lab.abort(first)
    assert lab.states(first, second) == ["aborted", "aborted"]
    assert [lab.systems[fqdn].usage for fqdn in "bc"] == ["pending", "pending"]


@pytest.mark.parametrize("change", ["drain", "disable", "lend", "close"])
def test_waiting__lab_or_right_is_lost__still_gets_its_locks(waiting: Waiting, change: str) -> None:
    lab, holder, first, second = waiting
    match change:
        case "drain":
            lab.drain("b")
        case "disable":
            lab.enable("lab-1", False)
        case "lend":
            lab.lend("b", "grace")
        case "close":
            lab.open_system("b")
    lab.settle()
    assert waits(lab, first, second) == [True, True]
    end(lab, holder)
    assert waits(lab, first, second) == [False, False]


# Locks come free


def test_end__sibling_declared_the_lock_too__it_stays_held(lab: World) -> None:
    first, second = lab.submit_set([named("a"), named("b")], locks=VLAN)
    lab.settle()
    other = begin(lab, "c", VLAN)
    end(lab, first)
    assert waits(lab, other) == [True]
    end(lab, second)
    assert waits(lab, other) == [False]


def test_end__by_abort__locks_are_free(lab: World) -> None:
    holder, other = begin(lab, "a", VLAN), begin(lab, "b", VLAN)
    lab.abort(holder)
    lab.settle()
    assert waits(lab, other) == [False]


def test_reserved__after_its_last_task__keeps_its_locks(lab: World) -> None:
    holder = lab.submit(named("a"), locks=VLAN, reservesys={"duration_seconds": 600, "when": "always"})
    lab.settle()
    other = begin(lab, "b", VLAN)
    end(lab, holder)
    assert (lab.states(holder), waits(lab, other)) == (["reserved"], [True])


def test_narrow__given_up_locks__are_free_at_once(lab: World) -> None:
    holder = begin(lab, "a", {"network": {"Exclusive": ["vlan-12", "vlan-13"]}})
    first, second = begin(lab, "b", VLAN), begin(lab, "c", OTHER)
    lab.narrow(holder, OTHER)
    lab.settle()
    assert waits(lab, first, second) == [False, True]


def test_narrow__exclusive_to_shared__is_covered(lab: World) -> None:
    holder, other = begin(lab, "a", VLAN), begin(lab, "b", READ_VLAN)
    lab.narrow(holder, READ_VLAN)
    lab.settle()
    assert waits(lab, other) == [False]


@pytest.mark.parametrize("locks", [OTHER, {"network": "AllShared"}, WHOLE_LAB])
def test_narrow__locks_that_are_not_covered__are_refused(lab: World, locks: Json) -> None:
    holder = begin(lab, "a", VLAN)
    with pytest.raises(Refused, match=r"does not hold .* can only give up locks"):
        lab.narrow(holder, locks)


def test_narrow__recipe_that_has_not_started__is_refused(waiting: Waiting) -> None:
    lab, _, first, _ = waiting
    with pytest.raises(Refused, match="waits for its resource locks"):
        lab.narrow(first, VLAN)


# Triggers: the cases for the rows of the table


def _owed(lab: World) -> tuple[int, int]:
    """Return a recipe to whom vlan-12 is owed, and one behind it that waits for it."""
    lab.configure(locks={"most_overtaken": 0})
    begin(lab, "a", READ_VLAN)
    return begin(lab, "b", VLAN), begin(lab, "c", READ_VLAN)


def _completed(lab: World) -> int:
    holder, other = begin(lab, "a", VLAN), begin(lab, "b", VLAN)
    lab.complete(holder)
    return other


def _given_up(lab: World) -> int:
    writer, reader = _owed(lab)
    lab.cancel(writer)
    return reader


def _withdrawn(lab: World) -> int:
    lab.configure(locks={"most_overtaken": 0})
    begin(lab, "a", READ_VLAN)
    begin(lab, "l", {})
    lab.submit_set([named("b", "l"), named("d")], locks=VLAN)
    lab.settle()
    reader = begin(lab, "c", READ_VLAN)
    lab.set_condition("b", "Broken")
    return reader


def _only_system_withdrawn(lab: World) -> int:
    _, reader = _owed(lab)
    lab.set_condition("b", "Broken")
    return reader


def _narrowed(lab: World) -> int:
    holder, other = begin(lab, "a", VLAN), begin(lab, "b", READ_VLAN)
    lab.narrow(holder, READ_VLAN)
    return other


def _waiting(lab: World) -> int:
    holder = begin(lab, "a", VLAN)
    other = lab.submit(named("b"), locks=VLAN)
    decisions = lab.decide(limit=10)
    lab.complete(holder)
    lab.commit_decisions(decisions, lab.partition.position)
    return other


def _priority_changed(lab: World) -> int:
    writer, reader = _owed(lab)
    lab.change_priority(writer, "Low")
    return reader


def _set_changed(lab: World) -> int:
    begin(lab, "a", VLAN)
    other = begin(lab, "b", VLAN)
    lab.change_recipe(other, locks={})
    return other


def _configured(lab: World) -> int:
    _, reader = _owed(lab)
    lab.configure(locks={"most_overtaken": 5})
    return reader


def _pools_changed(lab: World) -> int:
    for fqdn in ("a", "b"):
        lab.set_pool("net", fqdn, True)
    own_pools = {"pool": {"Exclusive": ["$pools"]}}
    begin(lab, "a", own_pools)
    other = begin(lab, "b", own_pools)
    lab.set_pool("net", "b", False)
    return other


ROWS = [
    ("recipe completed", _completed),
    ("recipe given up", _given_up),
    ("recipe assigned", _withdrawn),
    ("recipe queued", _only_system_withdrawn),
    ("locks narrowed", _narrowed),
    ("waiting for locks", _waiting),
    ("priority changed", _priority_changed),
    ("set changed", _set_changed),
    ("configuration changed", _configured),
    ("pools changed", _pools_changed),
]


@pytest.mark.parametrize(("name", "case"), ROWS)
def test_trigger__row_alone__set_gets_its_locks(name: str, case: Callable[[World], int]) -> None:
    assert _is_waiting_after(case, locks=(name,)) is False
    assert _is_waiting_after(case, locks=()) is True


def _is_waiting_after(case: Callable[[World], int], locks: tuple[str, ...]) -> bool:
    world = one_lab(rules(locks=locks))
    world.add_idle(*NAMES)
    recipe_id = case(world)
    assert waits(world, recipe_id) == [True]
    world.settle()
    return waits(world, recipe_id)[0]


def test_trigger__every_row__has_a_case() -> None:
    assert {name for name, _ in ROWS} == LOCKING


def test_trigger__nobody_waits__an_end_raises_none(lab: World) -> None:
    holder = begin(lab, "a", VLAN)
    lab.complete(holder)
    assert [trigger.kind for trigger in lab.partition.triggers.waiting()] == ["pending-system"]


# The scheduler


def test_rollback__overtaking__is_not_counted(lab: World) -> None:
    begin(lab, "a", READ_VLAN)
    begin(lab, "b", VLAN)
    lab.submit(named("c"), locks=READ_VLAN)
    for _ in range(3):
        assert lab.decide(limit=10)
    assert lab.partition.locks.overtaken == {}
    lab.settle()
    assert lab.partition.locks.overtaken == {2: 1}


def test_correct__nothing_overlooked__finds_nothing(lab: World) -> None:
    begin(lab, "a", VLAN)
    begin(lab, "b", VLAN)
    findings = Findings()
    decisions = correct(lab.partition, LoopInput(lab.now, {}), findings)
    lab.partition.rollback()
    assert (decisions, findings.lock_overlooked) == ([], 0)


def test_correct__no_trigger_for_freed_locks__finds_it() -> None:
    world = one_lab(rules(locks=()))
    world.add_idle(*NAMES)
    holder, other = begin(world, "a", VLAN), begin(world, "b", VLAN)
    end(world, holder)
    findings = Findings()
    assert len(correct(world.partition, LoopInput(world.now, {}), findings)) == 1
    world.partition.rollback()
    assert (findings.lock_overlooked, waits(world, other)) == (1, [True])
