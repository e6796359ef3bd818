"""Decisions about new recipe sets, and their ranks."""

from __future__ import annotations

from collections.abc import Callable
from unittest.mock import patch

import pytest

from domain.recipe.events import RecipeAssigned, RecipeQueued, RecipeScheduled
from domain.scheduling.decisions import decide as deciding
from domain.scheduling.decisions.decide import decide
from domain.scheduling.safety.matching import Matching
from domain.scheduling.supply.reasons import NO_IDLE_SYSTEM
from domain.scheduling.world.triggers import NEW_JOB, Triggers
from replay.audit import check, from_recorded
from replay.verify.recomputation import Recomputation
from tests.domain.scheduling.host_requirements import ANYTHING, BIG, IN_POOL, forces, named
from tests.domain.scheduling.labs import finish, occupy
from tests.domain.scheduling.policies import everybody, group
from tests.domain.scheduling.world import World
from tests.replay.audit.sound import assert_sound

ANY = ANYTHING.text
BOTH = ("lab-1", "lab-2")


@pytest.fixture
def two_labs(world: World) -> World:
    """Return two labs with the same tree; a and b are in the first, x, y and z in the other."""
    world.add_lab("lab-2")
    world.put_tree(1, "x86_64", BOTH)
    for name, lab in (("a", "lab-1"), ("b", "lab-1"), ("x", "lab-2"), ("y", "lab-2"), ("z", "lab-2")):
        world.add_system(name, lab=lab)
    world.settle()
    return world


def test_new_set__systems_for_all__the_one_with_the_fewest_viable_takes_first(world: World) -> None:
    world.add_idle("a", "b", "c")
    # In document order, the first recipe would take the only system of the last one.
    ids = world.submit_set([ANY, named("a", "b"), named("a")])
    (decision,) = world.settle()
    taken = [event.system for _, event in decision.events if isinstance(event, RecipeScheduled)]
    assert taken == ["a", "b", "c"]
    assert [world.system_of(recipe_id) for recipe_id in ids] == ["c", "b", "a"]


def test_new_set__as_many_viable_for_each__document_order_decides(world: World) -> None:
    world.add_idle("a", "b")
    first, second = world.submit_set([ANY, ANY])
    world.settle()
    assert (world.system_of(first), world.system_of(second)) == ("a", "b")


def test_new_set__choices_that_would_collide__all_of_it_starts_at_once(world: World) -> None:
    # Each wants two of three systems: a greedy choice by name would leave one recipe without a system.
    world.add_idle("a", "b", "c")
    ids = world.submit_set([named("a", "b"), named("a", "c"), named("a", "b")])
    world.settle()
    assert set(world.states(*ids)) == {"waiting"}
    assert {world.system_of(recipe_id) for recipe_id in ids} == {"a", "b", "c"}


def test_new_set__many_recipes__are_matched_once_and_then_moved_one_by_one(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    count, searched = 40, 0
    search = Matching._add

    def counted(self: Matching, *args: int) -> bool:
        nonlocal searched
        searched += 1
        return search(self, *args)

    monkeypatch.setattr(Matching, "_add", counted)
    names = [f"m{number:02}" for number in range(count)]
    world.add_idle(*names)
    ids = world.submit_set([ANY] * (count // 2) + [named(*names[: count // 2])] * (count // 2))
    world.settle()
    assert set(world.states(*ids)) == {"waiting"}
    # One search whether a lab could serve it, one where it can start, and one move for each grant.
    assert searched <= 3 * count


def test_new_set__one_lab_has_enough_idle__takes_them_there(two_labs: World) -> None:
    # By name, a and b come first, but the third would be missing.
    ids = two_labs.submit_set([ANY, ANY, ANY])
    two_labs.settle()
    assert [two_labs.system_of(recipe_id) for recipe_id in ids] == ["x", "y", "z"]


def test_new_set__both_labs_could_start_it__one_of_them_gets_it_all(two_labs: World) -> None:
    ids = two_labs.submit_set([ANY, ANY])
    two_labs.settle()
    assert [two_labs.recipes[recipe_id].lab_controller for recipe_id in ids] == ["lab-1", "lab-1"]


def test_new_set__no_lab_can_start_it_now__takes_of_one_that_could_when_all_come_free(
    two_labs: World,
) -> None:
    runs = occupy(two_labs, "x", "y")
    # a and b are idle, but their lab will never have a third.
    ids = two_labs.submit_set([ANY, ANY, ANY])
    two_labs.settle()
    assert sorted(two_labs.states(*ids)) == ["assigned", "assigned", "scheduled"]
    assert {two_labs.recipes[recipe_id].lab_controller for recipe_id in ids} == {"lab-2"}
    finish(two_labs, *runs.values())
    assert sorted(two_labs.system_of(recipe_id) or "" for recipe_id in ids) == ["x", "y", "z"]


def test_new_set__one_takes_a_system__its_siblings_are_assigned_in_the_same_decision(world: World) -> None:
    world.add_idle("a", "b")
    occupy(world, "b")
    first, second = world.submit_set([named("a"), named("b")])
    (decision,) = world.settle()
    assert [(subject, event) for subject, event in decision.events if subject.startswith("recipe/")] == [
        (f"recipe/{first}", RecipeScheduled(system="a", lab_controller="lab-1")),
        (f"recipe/{second}", RecipeAssigned(lab_controller="lab-1", reason=None)),
    ]
    assert world.states(first, second) == ["scheduled", "assigned"]


def test_new_set__bound_to_a_lab__takes_no_idle_system_of_another(two_labs: World) -> None:
    runs = occupy(two_labs, "b", "x", "y", "z")
    holding, assigned = two_labs.submit_set([named("a", "x"), named("b", "y")])
    two_labs.settle()
    assert (two_labs.system_of(holding), two_labs.states(assigned)) == ("a", ["assigned"])
    finish(two_labs, runs["y"])
    assert two_labs.systems["y"].usage == "idle"
    finish(two_labs, runs["b"])
    assert two_labs.system_of(assigned) == "b"


def test_new_set__nothing_idle__all_are_queued_with_the_reason(world: World) -> None:
    world.add_idle("a", "b")
    occupy(world, "a", "b")
    ids = world.submit_set([ANY, ANY], guests={0: [1]})
    (decision,) = world.settle()
    queued = RecipeQueued(reason=NO_IDLE_SYSTEM)
    members = (ids[0], ids[0] + 1, ids[1])
    assert decision.events == tuple((f"recipe/{recipe_id}", queued) for recipe_id in members)


def test_new_set__two_sets_in_one_batch__all_of_the_first_before_the_second(world: World) -> None:
    world.add_idle("a", "b", "c")
    first = world.submit_set([ANY, ANY])
    second = world.submit_set([ANY, ANY])
    assert len(world.settle()) == 2
    assert set(world.states(*first)) == {"waiting"}
    assert sorted(world.states(*second)) == ["assigned", "scheduled"]


def test_new_set__rest_of_its_batch_is_cancelled__its_assigned_recipe_ranks_as_such_in_the_next(
    world: World,
) -> None:
    world.add_idle("a", "d")
    runs = occupy(world, "d")
    earlier = world.submit(named("d"), priority="Low")
    world.settle()
    holding, assigned = world.submit_set([named("a"), named("d")], priority="Low")
    other = world.submit(ANY, priority="Low")
    world.commit_decisions(decide(world.partition, 1, world.now), world.position)
    assert world.states(holding, assigned, other) == ["scheduled", "assigned", "new"]
    world.cancel(other)
    assert world.partition.triggers.left() is None
    finish(world, runs["d"])
    assert (world.system_of(assigned), world.states(earlier)) == ("d", ["queued"])
    assert list(Recomputation().take_all(world.log)) == []
    assert_sound(from_recorded(world.log))


def test_new_set__submitted_beside_a_batch_of_new_sets__does_not_rank_them_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.add_idle("a")
    backlog = [world.submit(ANY) for _ in range(5)]
    world.commit_decisions(decide(world.partition, 1, world.now), world.position)
    assert world.states(*backlog) == ["waiting"] + ["new"] * 4
    rankings: list[str] = []
    monkeypatch.setattr(Triggers, "ranks_changed", lambda _: rankings.append("again"))
    for _ in range(5):
        world.submit(ANY)
    assert rankings == []
    # Shows that the test notices a ranking.
    world.change_priority(backlog[-1], "Urgent")
    assert rankings == ["again"]


def test_new_set__starts__hosts_and_guests_and_systems_in_one_decision(world: World) -> None:
    world.add_idle("a", "b")
    host, other = world.submit_set([named("a"), named("b")], guests={0: [1]})
    guest = host + 1
    (decision,) = world.settle()
    assert [(subject, event.TOPIC.split(".")[1]) for subject, event in decision.events] == [
        # The first recipe takes its system; its sibling is bound to that lab and takes its own.
        (f"recipe/{host}", "scheduled"),
        (f"recipe/{guest}", "scheduled"),
        ("system/a", "scheduled"),
        (f"recipe/{other}", "assigned"),
        (f"recipe/{other}", "scheduled"),
        ("system/b", "scheduled"),
        # With the last of its recipes the set starts, each system with its recipe.
        (f"recipe/{host}", "waiting"),
        (f"recipe/{guest}", "waiting"),
        ("system/a", "waiting"),
        (f"recipe/{other}", "waiting"),
        ("system/b", "waiting"),
    ]
    assert world.recipes[guest].system == "a"


def test_new_set__gets_its_last_system__whole_set_starts_in_one_decision(world: World) -> None:
    world.add_idle("a", "b")
    runs = occupy(world, "b")
    host, other = world.submit_set([named("a"), named("b")], guests={0: [1], 1: [1]})
    world.settle()
    world.complete(runs["b"])
    (decision,) = world.settle()
    waiting = [subject for subject, event in decision.events if event.TOPIC.endswith(".waiting")]
    assert waiting == [
        *(f"recipe/{host}", f"recipe/{host + 1}", "system/a"),
        *(f"recipe/{other}", f"recipe/{other + 1}", "system/b"),
    ]
    changed = {subject for subject, _ in decision.events}
    assert dict(decision.expected).keys() == {*changed, "partition/default", "lab-controller/lab-1"}


def test_new_set__guest__needs_no_system(world: World) -> None:
    world.add_idle("a", "b")
    host, other = world.submit_set([named("a"), named("b")], guests={0: [1, 1, 1]})
    world.settle()
    assert (world.system_of(host), world.system_of(other)) == ("a", "b")
    assert {system.recipe_id for system in world.systems.values()} == {host, other}


def test_new_set__guests_tree_is_only_in_one_of_the_labs__takes_a_system_there(two_labs: World) -> None:
    two_labs.put_tree(2, "x86_64", ["lab-2"])
    (host,) = two_labs.submit_set([ANY], guests={0: [2]})
    two_labs.settle()
    assert two_labs.system_of(host) == "x"


def test_new_set__guest_with_a_custom_distro__needs_no_tree(two_labs: World) -> None:
    own = {"arch": "x86_64", "osmajor": "Mine", "osminor": None}
    (host,) = two_labs.submit_set([ANY], tree_id=None, guests={0: [None]}, distro=own)  # type: ignore[list-item]
    two_labs.settle()
    assert two_labs.system_of(host) == "a"


def test_new_set__one_forces_a_manual_system__starts_with_the_others(world: World) -> None:
    world.add_system("m", condition="Manual")
    world.add_idle("a")
    ids = world.submit_set([ANY, forces("m")])
    world.settle()
    assert [world.system_of(recipe_id) for recipe_id in ids] == ["a", "m"]
    assert world.systems["m"].usage == "waiting"


def test_new_set__sibling_needs_the_preferred_system__gets_it(world: World) -> None:
    # Both fit the big system in the pool; the first recipe has an alternative, and as many viable systems.
    world.add_system("a", memory_mb=16_384, pools=["net"])
    world.add_system("b", memory_mb=16_384)
    world.add_system("c", pools=["net"], condition="Broken")
    world.settle()
    big, pooled = world.submit_set([BIG.text, IN_POOL.text])
    world.settle()
    assert (world.system_of(big), world.system_of(pooled)) == ("b", "a")


# Jobs of this group may be Urgent on the systems of the pool; other jobs are Low there.
DESIGNATED = "designated"

at_once_and_one_by_one = pytest.mark.parametrize("limit", [500, 1])


@pytest.fixture
def pool(world: World) -> World:
    world.put_group(DESIGNATED, "ada")
    world.open_pool("pool", everybody("Low"), group(DESIGNATED))
    return world


def _settle(world: World, limit: int) -> None:
    world.settle(limit)
    assert list(Recomputation().take_all(world.log)) == []
    assert_sound(from_recorded(world.log))


@at_once_and_one_by_one
def test_new_sets__nominally_urgent_one_is_low_there__comes_after_the_normal_one(
    pool: World, limit: int
) -> None:
    pool.add_system("a", pools=["pool"])
    pool.settle()
    capped = pool.submit(ANY, priority="Urgent")
    designated = pool.submit(ANY, priority="Normal", group=DESIGNATED)
    _settle(pool, limit)
    assert (pool.system_of(designated), pool.states(capped)) == ("a", ["queued"])


@at_once_and_one_by_one
@pytest.mark.parametrize(("of_pool", "open_to_all"), [("a", "b"), ("b", "a")])
def test_new_sets__urgent_on_one_of_two_systems__takes_the_system_where_it_is_urgent(
    pool: World, of_pool: str, open_to_all: str, limit: int
) -> None:
    pool.add_system(of_pool, pools=["pool"])
    pool.add_system(open_to_all)
    pool.settle()
    capped = pool.submit(ANY, priority="Urgent")
    designated = pool.submit(named(of_pool), priority="Normal", group=DESIGNATED)
    _settle(pool, limit)
    assert (pool.system_of(capped), pool.system_of(designated)) == (open_to_all, of_pool)


@at_once_and_one_by_one
def test_new_sets__best_system_is_taken__ranks_by_remaining_one(pool: World, limit: int) -> None:
    pool.add_system("a", pools=["pool"])
    pool.add_system("b")
    pool.settle()
    first = pool.submit(named("b"), priority="Urgent")
    capped = pool.submit(ANY, priority="Urgent")
    designated = pool.submit(ANY, priority="Normal", group=DESIGNATED)
    _settle(pool, limit)
    assert [pool.system_of(each) for each in (first, capped, designated)] == ["b", None, "a"]


def test_new_sets__equal_effective_priority__nominal_priority_and_submission_decide(pool: World) -> None:
    pool.add_system("a", pools=["pool"])
    pool.settle()
    first, urgent, second = (pool.submit(ANY, priority=each) for each in ("Normal", "Urgent", "Urgent"))
    _settle(pool, 500)
    assert [pool.system_of(each) for each in (first, urgent, second)] == [None, "a", None]


def _nominal(world: World) -> None:
    """Answer new sets by nominal priority."""
    first = patch.object(deciding, "next_new_set", lambda partition: partition.triggers.first(NEW_JOB))
    with first:
        world.settle()


def _one_after_another(world: World) -> None:
    world.settle()


@pytest.mark.parametrize(("answer", "is_found"), [(_nominal, True), (_one_after_another, False)])
def test_audit__new_sets_in_nominal_order__violation(
    pool: World, answer: Callable[[World], None], is_found: bool
) -> None:
    pool.add_system("a", pools=["pool"])
    pool.settle()
    capped = pool.submit(ANY, priority="Urgent")
    designated = pool.submit(ANY, priority="Normal", group=DESIGNATED)
    answer(pool)
    found = [(each.invariant, each.subjects) for each in check(from_recorded(pool.log))]
    jump = ("nobody_jumped", (f"recipe/{capped}", f"recipe/{designated}", "system/a"))
    assert found == ([jump] if is_found else [])


def test_new_sets__one_of_several_recipes__is_answered_whole(pool: World) -> None:
    """One recipe of the set is urgent where it is free, so its sibling may take a system where it is Low."""
    pool.add_system("a", pools=["pool"])
    pool.add_system("b")
    pool.settle()
    several = pool.submit_set([named("a"), named("b")], priority="Urgent")
    designated = pool.submit(named("a"), priority="Normal", group=DESIGNATED)
    _settle(pool, 500)
    assert [pool.system_of(each) for each in several] == ["a", "b"]
    assert pool.states(designated) == ["queued"]
