"""Decisions about pending systems, and triggers without an effect."""

from __future__ import annotations

import pytest

from domain.admission.configuration import ALWAYS, WITHIN_PRIORITY
from domain.events import Basis, Stamp
from domain.scheduling.decisions.decide import decide
from domain.scheduling.world.partition import Partition
from domain.system.events import SystemIdle
from tests.domain.scheduling.host_requirements import ANYTHING, BIG, IN_POOL, forces, named
from tests.domain.scheduling.labs import finish, occupy, one_lab, wanting
from tests.domain.scheduling.world import World


def test_pending_system__empty_queue__idle(world: World) -> None:
    world.add_system("a")
    (decision,) = world.settle()
    assert decision.events == (("system/a", SystemIdle()),)


def test_pending_system__queue_of_all_priorities__serves_by_priority_then_submission(world: World) -> None:
    world.add_idle("a")
    world.submit(ANYTHING.text)
    world.settle()
    for priority in ("Low", "Normal", "Urgent", "Medium", "Urgent", "High"):
        world.submit(ANYTHING.text, priority=priority)
    world.settle()
    served = []
    while placed := world.placed():
        served.append(placed[0].recipe_id)
        world.complete(placed[0].recipe_id)
        world.settle()
    assert served == [1, 4, 6, 7, 3, 5, 2]


def test_pending_system__first_in_rank_wants_another_system__serves_the_next(world: World) -> None:
    world.add_idle("a")
    world.add_system("b", condition="Broken", memory_mb=16384)
    world.submit(ANYTHING.text)
    big, small = world.submit(BIG.text, priority="Urgent"), world.submit(ANYTHING.text, priority="Low")
    world.settle()
    world.abort(1)
    world.settle()
    assert (world.recipes[big].state, world.recipes[small].state) == ("queued", "waiting")


def test_pending_system__lab_disabled_meanwhile__idle_despite_waiting_recipes(world: World) -> None:
    world.add_idle("a")
    world.submit(ANYTHING.text)
    world.settle()
    world.submit(ANYTHING.text, priority="Urgent")
    world.settle()
    world.enable("lab-1", False)
    world.complete(1)
    (decision,) = world.settle()
    assert decision.events == (("system/a", SystemIdle()),)


def test_pending_system__lab_disabled_meanwhile__not_even_for_forced_recipes(world: World) -> None:
    world.add_idle("a")
    runs = occupy(world, "a")
    forcing = world.submit(forces("a"))
    world.settle()
    world.enable("lab-1", False)
    finish(world, runs["a"])
    assert (world.systems["a"].usage, world.states(forcing)) == ("idle", ["queued"])


def test_triggers__system_pending_again_before_the_answer__one_answer(world: World) -> None:
    world.add_system("a")
    recipe_id = world.submit(ANYTHING.text)
    world.drain("a")
    world.undrain("a")
    answered = [decision.trigger.kind for decision in world.settle()]
    assert answered == ["pending-system", "new-job"]
    assert world.system_of(recipe_id) == "a"


def test_pending_system__registered_in_the_pool_a_queued_recipe_wants__serves_it(world: World) -> None:
    world.add_system("broken", condition="Broken", pools=["net"])
    wanting = world.submit(IN_POOL.text)
    world.settle()
    world.add_system("a", pools=["net"])
    world.settle()
    assert world.recipes[wanting].system == "a"


def test_triggers__system_freed_before_a_new_job__queue_is_served_first(world: World) -> None:
    world.add_idle("a")
    world.submit(ANYTHING.text)
    queued = world.submit(ANYTHING.text, priority="Low")
    world.settle()
    world.complete(1)
    newcomer = world.submit(ANYTHING.text, priority="Urgent")
    world.settle()
    assert (world.recipes[queued].state, world.recipes[newcomer].state) == ("waiting", "queued")


def test_triggers__recipe_cancelled_before_the_answer__no_decision(world: World) -> None:
    world.add_idle("a")
    world.cancel(world.submit(ANYTHING.text))
    assert world.settle() == []


@pytest.mark.parametrize(
    ("assigned_first", "priority", "is_first"),
    [
        (WITHIN_PRIORITY, "Low", False),
        (WITHIN_PRIORITY, "Urgent", True),
        (ALWAYS, "Low", True),
    ],
)
def test_pending_system__assigned_recipe_and_earlier_urgent_queued_one__order_decides(
    world: World, assigned_first: str, priority: str, is_first: bool
) -> None:
    world.configure(order={"assigned_first": assigned_first})
    world.add_idle("a", "b")
    runs = occupy(world, "b")
    urgent = world.submit(named("b"), priority="Urgent")
    world.settle()
    _, assigned = wanting(world, "a", "b", priority=priority)
    finish(world, runs["b"])
    got, waits = (assigned, urgent) if is_first else (urgent, assigned)
    assert (world.system_of(got), world.states(waits)) == (
        "b",
        ["assigned" if waits == assigned else "queued"],
    )


def test_pending_system__several_assigned_recipes__go_by_priority_then_submission(world: World) -> None:
    world.add_idle("a", "b", "c", "x", "y", "z")
    runs = occupy(world, "x", "y", "z")
    # Each set holds one system and wants any of the busy ones.
    low, early, late = (
        wanting(world, own, "xyz", priority=priority)[1]
        for own, priority in (("a", "Low"), ("b", "High"), ("c", "High"))
    )
    finish(world, *runs.values())
    assert [world.system_of(recipe_id) for recipe_id in (early, late, low)] == ["x", "y", "z"]


def test_pending_system__set_of_equal_rank__its_recipes_go_in_document_order(world: World) -> None:
    world.add_idle("a", "b")
    runs = occupy(world, "a", "b")
    first, second = wanting(world, "ab", "ab")
    finish(world, runs["b"])
    assert (world.system_of(first), world.states(second)) == ("b", ["assigned"])


def test_pending_system__assigned_recipe_of_another_lab__is_not_asked(world: World) -> None:
    world.add_lab("lab-2")
    world.put_tree(1, "x86_64", ["lab-1", "lab-2"])
    world.add_system("x", lab="lab-2")
    world.add_idle("a", "b")
    runs = occupy(world, "b", "x")
    _, assigned = wanting(world, "a", "bx")
    queued = world.submit(named("x"), priority="Low")
    world.settle()
    finish(world, runs["x"])
    assert (world.states(assigned), world.system_of(queued)) == (["assigned"], "x")


def test_pending_system__queued_sibling_gets_it__the_others_are_assigned_to_its_lab(world: World) -> None:
    world.add_idle("a", "b")
    runs = occupy(world, "a", "b")
    first, second = wanting(world, "a", "b")
    assert world.states(first, second) == ["queued", "queued"]
    finish(world, runs["b"])
    assert world.states(first, second) == ["assigned", "scheduled"]
    assert world.recipes[first].lab_controller == "lab-1"


def test_pending_system__priority_of_a_waiting_set_changed__new_rank(world: World) -> None:
    world.add_idle("a")
    runs = occupy(world, "a")
    early, late = world.submit(ANYTHING.text), world.submit(ANYTHING.text)
    world.settle()
    world.change_priority(late, "High")
    finish(world, runs["a"])
    assert (world.states(early), world.system_of(late)) == (["queued"], "a")


def test_pending_system__drained_before_the_answer__not_answered(world: World) -> None:
    world.add_idle("a")
    runs = occupy(world, "a")
    waiting = world.submit(ANYTHING.text)
    world.settle()
    world.complete(runs["a"])
    world.drain("a")
    assert world.settle() == []
    assert (world.systems["a"].usage, world.states(waiting)) == ("idle", ["queued"])


def test_free_system__not_automated__serves_only_forced_recipes(world: World) -> None:
    world.add_idle("a")
    forcing_first = world.submit(forces("a"))
    world.settle()
    ordinary = world.submit(ANYTHING.text, priority="Urgent")
    forcing = world.submit(forces("a"), priority="Low")
    world.set_condition("a", "Manual")
    world.settle()
    finish(world, forcing_first)
    assert (world.states(ordinary), world.system_of(forcing)) == (["queued"], "a")


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
