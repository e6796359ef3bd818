"""New sets of one batch are served by effective priority on the systems that they could take (design 5.2)."""

from __future__ import annotations

from collections.abc import Callable
from unittest.mock import patch

import pytest

from domain.scheduling.decisions import decide as deciding
from domain.scheduling.world.triggers import NEW_JOB
from replay.audit import check, from_recorded
from replay.verify.recomputation import Recomputation
from tests.domain.scheduling.host_requirements import ANYTHING, named
from tests.domain.scheduling.policies import everybody, group
from tests.domain.scheduling.world import World
from tests.replay.audit.sound import assert_sound

ANY = ANYTHING.text
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
def test_new_sets__urgent_on_one_of_two_systems__takes_that_one(
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
