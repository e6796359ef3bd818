"""Decisions of a partition that is active, draining or stopped."""

from __future__ import annotations

from datetime import timedelta

import pytest

from domain.directory.events import PartitionStateChanged
from domain.directory.partition_states import DRAIN, START, STOP, move
from domain.errors import Refused
from domain.events import Event
from domain.scheduling.decisions.decide import decide
from domain.scheduling.explaining.lock_waits import lock_summary, lock_wait
from domain.scheduling.explaining.waiting import WaitingOptions, why_it_waits
from domain.scheduling.supply.reasons import PARTITION_STOPPED
from tests.domain.scheduling.consistency_loop import run_loop, tick
from tests.domain.scheduling.host_requirements import ANYTHING, named
from tests.domain.scheduling.labs import finish
from tests.domain.scheduling.world import World

EXCLUSIVE = {"network": {"Exclusive": ["net"]}}


@pytest.mark.parametrize(
    ("state", "name", "after"),
    [
        ("active", START, None),
        ("active", DRAIN, "draining"),
        ("active", STOP, "stopped"),
        ("draining", START, "active"),
        ("draining", DRAIN, None),
        ("draining", STOP, "refused"),
        ("stopped", START, "active"),
        ("stopped", DRAIN, "refused"),
        ("stopped", STOP, None),
    ],
)
def test_move__from_each_state__event_or_refused(state: str, name: str, after: str | None) -> None:
    def moved() -> list[Event]:
        return move({"state": state}, name)

    if after == "refused":
        with pytest.raises(Refused, match=f"the partition is {state}"):
            moved()
    else:
        assert moved() == ([] if after is None else [PartitionStateChanged(after)])


def test_draining__what_is_there__is_granted_as_before(world: World) -> None:
    world.add_idle("a")
    first, second = (world.submit(ANYTHING.text) for _ in range(2))
    world.move_partition(DRAIN)
    world.settle()
    finish(world, first)
    assert world.states(first, second) == ["completed", "waiting"]


def test_stopped__new_recipes_and_free_systems__wait_until_it_is_started(world: World) -> None:
    world.add_idle("a")
    first, second = (world.submit(named("a")) for _ in range(2))
    world.settle()
    world.move_partition(STOP)
    third = world.submit(named("b"), priority="High")
    world.add_idle("b")
    # What has started goes on, and its end is reported.
    finish(world, first)
    assert world.settle() == []
    assert world.states(first, second, third) == ["completed", "queued", "new"]
    assert world.systems["a"].usage == "pending"
    why = why_it_waits(world.partition, world.partition.sets.recipes[second], WaitingOptions(limit=5))
    assert why.summary == PARTITION_STOPPED
    world.restart()
    world.move_partition(START)
    world.settle()
    assert world.states(second, third) == ["waiting", "waiting"]


def test_stopped__set_that_waits_for_its_locks__gets_them_when_it_is_started(world: World) -> None:
    world.add_idle("a", "b")
    first, second = (world.submit(named(name), locks=EXCLUSIVE) for name in "ab")
    world.settle()
    world.move_partition(STOP)
    finish(world, first)
    assert world.partition.sets.recipes[second].held is None
    assert run_loop(world).decisions == [], "nothing was overlooked"
    wait = lock_wait(world.partition, world.partition.sets.recipes[second].recipe_set_id)
    assert wait is not None
    assert lock_summary(world.partition, wait) == PARTITION_STOPPED
    world.move_partition(START)
    world.settle()
    assert world.partition.sets.recipes[second].held is not None


def test_stopped__watchdog__ends_the_recipe(world: World) -> None:
    world.add_idle("a")
    recipe_id = world.submit(ANYTHING.text)
    world.settle()
    world.move_partition(STOP)
    assert tick(world, timedelta(days=1).total_seconds()).causes == [f"timer/watchdog/{recipe_id}"]
    assert world.states(recipe_id) == ["aborted"]


@pytest.mark.parametrize("what", ["grant", "locks"])
def test_stop__between_basis_and_commit__is_a_conflict(world: World, what: str) -> None:
    world.add_idle("a", "b")
    first = world.submit(named("a"), locks=EXCLUSIVE)
    if what == "locks":
        world.submit(named("b"), locks=EXCLUSIVE)
        world.settle()
        world.complete(first)
    decisions = decide(world.partition, 1, world.now)
    assert decisions and decisions[0].events
    world.partition.rollback()
    world.move_partition(STOP)
    assert world.in_conflict(decisions)
