"""Triggers without a trace in the log: wake-ups without a grant, refused commits, and restarts."""

from __future__ import annotations

import pytest

from domain.events import Basis, Stamp
from domain.scheduling.decisions.decide import decide
from domain.scheduling.world.partition import Partition
from domain.system.events import SystemIdle
from tests.domain.scheduling.host_requirements import ANYTHING, named
from tests.domain.scheduling.labs import occupy, one_lab, wanting
from tests.domain.scheduling.world import World


def kinds(partition: Partition) -> list[str]:
    return [trigger.kind for trigger in partition.triggers.waiting()]


def test_wake_up__no_recipe_takes_the_system__answered_without_events(world: World) -> None:
    world.add_idle("a")
    world.describe("a", memory_mb=8_192)
    assert kinds(world.partition) == ["let-go", "wake-up"]
    before = list(world.log)
    assert decide(world.partition, limit=500) == []
    assert (world.log, kinds(world.partition)) == (before, [])


def test_decisions__commit_refused__all_triggers_queued_again(world: World) -> None:
    world.add_idle("a", "b")
    world.enable("lab-1", False)
    first, second = world.submit(ANYTHING.text), world.submit(ANYTHING.text)
    world.settle()
    world.enable("lab-1", True)
    waiting = kinds(world.partition)
    decisions = world.decide(limit=500)
    assert len(decisions) == 2
    # `World.decide` rolls the decisions back.
    assert kinds(world.partition) == waiting
    assert world.decide(limit=500) == decisions
    world.settle()
    assert (world.system_of(first), world.system_of(second)) == ("a", "b")


def test_decisions__refused_because_the_winner_was_cancelled_meanwhile__go_to_the_next(world: World) -> None:
    world.add_idle("a")
    runs = occupy(world, "a")
    first, second = world.submit(ANYTHING.text), world.submit(ANYTHING.text)
    world.settle()
    world.complete(runs["a"])
    (decision,) = world.decide()
    world.cancel(first)
    assert dict(decision.expected)[f"recipe/{first}"] != world.version(f"recipe/{first}")
    world.settle()
    assert world.system_of(second) == "a"


def test_decisions__refused_again_and_again__triggers_do_not_pile_up(world: World) -> None:
    world.add_system("a")
    world.add_system("b")
    waiting = world.partition.triggers.waiting()
    for _ in range(10):
        world.decide()
    assert world.partition.triggers.waiting() == waiting
    assert len(world.partition.triggers._all()) == len(waiting)


def _new_and_pending(world: World) -> None:
    """Leave recipes new and systems pending."""
    world.add_system("a")
    world.submit(ANYTHING.text)
    world.submit_set([named("a"), ANYTHING.text])


def _wake_up(world: World) -> None:
    world.add_idle("a")
    world.enable("lab-1", False)
    world.submit(ANYTHING.text)
    world.settle()
    world.enable("lab-1", True)


def _must_let_go(world: World) -> None:
    world.add_idle("a", "b", "x")
    occupy(world, "x")
    wanting(world, "a", "x")
    wanting(world, "b", "x")
    world.set_condition("x", "Broken")


def _in_the_middle(world: World) -> None:
    """Answer one of several triggers; a wake-up without a grant comes after the new job."""
    world.add_idle("a")
    world.submit(ANYTHING.text)
    world.submit(ANYTHING.text)
    world.describe("a", memory_mb=8_192)
    world.commit_decisions(world.decide(limit=1), world.position)


@pytest.mark.parametrize("left", [_new_and_pending, _wake_up, _must_let_go, _in_the_middle])
def test_restart__unanswered_triggers__continues_where_the_other_stopped(world: World, left) -> None:  # type: ignore[no-untyped-def]
    left(world)
    restarted = world.refolded()
    assert restarted.triggers.waiting()[-1:] == world.partition.triggers.waiting()[-1:]
    going_on = decide(restarted, 500)
    assert going_on == world.decide(limit=500) != []
    # Also with a restart after each commit.
    while decisions := decide(world.refolded(), 1):
        world.commit_decisions(decisions, world.position)
    assert world.settle() == []


def test_restart__everything_was_answered__decides_nothing(world: World) -> None:
    _must_let_go(world)
    world.settle()
    assert decide(world.refolded(), 500) == []


def test_restart__decisions_of_the_first_policy__answered_no_wake_ups(world: World) -> None:
    world.add_lab("lab-2")
    world.add_system("a")
    world.enable("lab-1", False)
    world.settle()
    recipe_id = world.submit(ANYTHING.text)
    world.settle()
    world.enable("lab-1", True)
    # Policy 1 had only new jobs and pending systems, so the recipe waits although a system is idle.
    world.add_system("b", lab="lab-2")
    basis = Basis(world.position, world.now, epoch=1, policy_version=1)
    stamp = Stamp(world.now, "scheduler", f"event/{world.position}", basis, 0)
    world.append([("system/b", SystemIdle(), stamp)])
    (decision,) = decide(world.refolded(), 500)
    assert decision.events[0][0] == f"recipe/{recipe_id}"


def _a_batch_of_everything(world: World) -> list[int]:
    """Make a batch with all kinds: let-go, pending systems, a wake-up and new sets."""
    world.add_lab("lab-2", enabled=False)
    world.put_tree(1, "x86_64", ["lab-1", "lab-2"])
    for name in "pqr":
        world.add_system(name, "lab-2")
    world.add_idle("a", "b", "x", "y", "z")
    runs = occupy(world, "x", "y", "z")
    wanting(world, "a", "x")
    wanting(world, "b", "x")
    waiting = [world.submit(named(name), priority="Low") for name in "ypqra"]
    world.settle()
    world.set_condition("x", "Broken")
    world.complete(runs["y"])
    world.complete(runs["z"])
    world.enable("lab-2", True)
    waiting += [world.submit(named("z"), priority=priority) for priority in ("Low", "Urgent")]
    return waiting


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_scheduler__killed_after_every_commit_of_a_batch__loses_no_wake_up(world: World, limit: int) -> None:
    waiting = _a_batch_of_everything(world)
    log_of_one = _log_without_restart(limit)
    while decisions := decide(world.refolded(), limit, world.now):
        assert decisions == world.decide(limit)
        world.commit_decisions(decisions, world.position)
    assert [system.fqdn for system in world.systems.values() if system.usage == "idle"] == ["b", "x"]
    assert world.states(*waiting) == ["waiting"] * 5 + ["queued", "waiting"]
    assert [(row.subject, row.event) for row in world.log] == log_of_one


def _log_without_restart(limit: int) -> list[tuple[str, object]]:
    other = one_lab()
    _a_batch_of_everything(other)
    other.settle(limit)
    return [(row.subject, row.event) for row in other.log]
