"""Watchdogs, and systems that are kept when a recipe is given up."""

from __future__ import annotations

import pytest

from domain.recipe.watchdog import OVERRIDE
from domain.recipe_set.ending import HOST_ENDED
from domain.recipe_set.kept_systems import WHEN, give_back
from domain.recipe_set.messages import (
    ReportAborted,
    ReportCompleted,
    ReportInstalling,
    ReportTaskEnded,
    ReportTaskRunning,
    ReportWatchdog,
)
from domain.scheduling.supply.reasons import WATCHDOG_EXPIRED
from replay.audit import from_recorded
from tests.domain.scheduling.consistency_loop import nothing_expires, tick
from tests.domain.scheduling.host_requirements import ANYTHING, forces
from tests.domain.scheduling.labs import finish, one_lab, wanting
from tests.domain.scheduling.world import World
from tests.replay.audit.sound import assert_sound

ANY = ANYTHING.text


def starts_task(world: World, recipe_id: int) -> None:
    world.report(recipe_id, ReportInstalling())
    world.report(recipe_id, ReportTaskRunning(world.recipes[recipe_id].tasks[0].task_id))


def test_watchdog__no_task_started_in_time__aborts_the_recipe_and_frees_its_system(
    world: World, running: int
) -> None:
    nothing_expires(world, 10_800)
    # An installing recipe has not started a task.
    world.report(running, ReportInstalling())
    found = tick(world, 1)
    assert (found.causes, found.findings.watchdogs_expired) == ([f"timer/watchdog/{running}"], 1)
    (decision,) = found.decisions
    assert decision.events[0][1].reason == WATCHDOG_EXPIRED  # type: ignore[attr-defined]
    assert (world.states(running), world.systems["a"].usage) == (["aborted"], "idle")
    assert_sound(from_recorded(world.log))


def test_watchdog__expired_recipe__is_not_given_up_twice(world: World, running: int) -> None:
    assert tick(world, 10_800).decisions
    assert tick(world, 10_800).decisions == []


def test_watchdog__task_takes_longer_than_half_an_hour__aborts_the_recipe(world: World, running: int) -> None:
    starts_task(world, running)
    nothing_expires(world, 1_800)
    tick(world, 1)
    assert world.states(running) == ["aborted"]


def test_watchdog__task_has_its_own_time__uses_it(world: World) -> None:
    world.add_idle("a")
    task = {"task_id": 1, "name": "/long", "role": None, "params": {OVERRIDE: "9000"}}
    recipe_id = world.submit(ANY, tasks=(task,))
    world.settle()
    starts_task(world, recipe_id)
    nothing_expires(world, 9_000)
    tick(world, 1)
    assert world.states(recipe_id) == ["aborted"]


def test_watchdog__extended_by_the_harness__expires_later(world: World, running: int) -> None:
    starts_task(world, running)
    nothing_expires(world, 1_800)
    world.report(running, ReportWatchdog(600))
    nothing_expires(world, 600)
    tick(world, 1)
    assert world.states(running) == ["aborted"]


def test_watchdog__set_to_nothing__expires_at_once(world: World, running: int) -> None:
    world.report(running, ReportWatchdog(0))
    assert tick(world).findings.watchdogs_expired == 1


def test_watchdog__recipe_completed_in_time__expires_no_more(world: World, running: int) -> None:
    finish(world, running)
    assert tick(world, 100_000).decisions == []


def test_watchdog__recipe_waits_for_a_system__has_none(world: World, running: int) -> None:
    waiting = world.submit(ANY)
    tick(world, 1_000)
    finish(world, running)
    assert world.states(waiting) == ["waiting"]
    # The watchdog starts with the recipe, not with its submission.
    nothing_expires(world, 10_800)


def test_watchdog__one_of_a_started_set_expires__its_siblings_go_on(world: World) -> None:
    world.add_idle("a", "b")
    slow, quick = wanting(world, "a", "b")
    starts_task(world, quick)
    tick(world, 1_800)
    assert world.states(slow, quick) == ["waiting", "aborted"]


def test_watchdog__host_expires__its_guests_end_with_it(world: World) -> None:
    world.add_idle("a")
    (host,) = world.submit_set([ANY], guests={0: [1]})
    world.settle()
    found = tick(world, 10_800)
    assert world.states(host, host + 1) == ["aborted", "aborted"]
    assert found.findings.watchdogs_expired == 1


def test_watchdog__guest_and_host_expire_together__the_guest_ends_once(world: World) -> None:
    world.add_idle("a")
    (host,) = world.submit_set([ANY], guests={0: [1]})
    world.settle()
    world.report(host, ReportInstalling())
    world.report(host + 1, ReportInstalling())
    found = tick(world, 10_800)
    assert found.causes == [f"timer/watchdog/{host}"]
    assert found.findings.watchdogs_expired == 1
    assert world.states(host, host + 1) == ["aborted", "aborted"]
    assert_sound(from_recorded(world.log))


def test_watchdog__guest_expires_alone__its_host_goes_on(world: World) -> None:
    world.add_idle("a")
    (host,) = world.submit_set([ANY], guests={0: [1]})
    world.settle()
    world.report(host, ReportInstalling())
    world.report(host + 1, ReportInstalling())
    world.report(host, ReportWatchdog(20_000))
    tick(world, 10_800)
    assert world.states(host, host + 1) == ["installing", "aborted"]
    assert world.systems["a"].usage == "installing"


def _reserving(world: World) -> int:
    """Return a recipe that keeps system a for a day."""
    world.add_idle("a")
    recipe_id = world.submit(ANY, reservesys={"duration_seconds": 86_400, "when": "always"})
    world.settle()
    starts_task(world, recipe_id)
    world.report(recipe_id, ReportTaskEnded(world.recipes[recipe_id].tasks[0].task_id, "completed"))
    world.report(recipe_id, ReportCompleted())
    assert (world.states(recipe_id), world.systems["a"].usage) == (["reserved"], "running")
    return recipe_id


def test_reserved__time_is_over__completes_and_the_next_gets_the_system(world: World) -> None:
    recipe_id = _reserving(world)
    waiting = world.submit(ANY)
    nothing_expires(world, 86_400)
    tick(world, 1)
    assert world.states(recipe_id, waiting) == ["completed", "waiting"]


def test_reserved__extended__is_kept_for_longer(world: World) -> None:
    recipe_id = _reserving(world)
    world.report(recipe_id, ReportWatchdog(200_000))
    nothing_expires(world, 200_000)
    tick(world, 1)
    assert world.states(recipe_id) == ["completed"]


def test_reserved__given_back__the_loop_has_nothing_left_to_do(world: World) -> None:
    recipe_id = _reserving(world)
    world.change(give_back(world.members(recipe_id), world.recipes[recipe_id]))
    assert world.states(recipe_id) == ["completed"]
    assert tick(world, 100_000).decisions == []


LAB_GIVES_UP = ReportAborted("its harness is gone")
DAY_SECONDS = 86_400


@pytest.fixture
def lab() -> World:
    """Return a world with one lab and one idle system."""
    world = one_lab()
    world.add_idle("a")
    return world


def begin(world: World, state: str, when: str = "onabort", guests: int = 0) -> int:
    """Submit a recipe of two tasks that keeps its system for a day, and bring it into a state."""
    tasks = [{"task_id": number, "name": "/t", "role": None, "params": {}} for number in (1, 2)]
    kept = {"duration_seconds": DAY_SECONDS, "when": when}
    (recipe_id,) = world.submit_set([ANY], guests={0: [1] * guests}, tasks=tasks, reservesys=kept)
    world.settle()
    for each in world.recipes:
        if state != "waiting":
            world.report(each, ReportInstalling())
        if state == "running":
            world.report(each, ReportTaskRunning(world.recipes[each].tasks[0].task_id))
    return recipe_id


@pytest.mark.parametrize("when", WHEN)
@pytest.mark.parametrize("state", ["installing", "running"])
def test_watchdog__job_asked_to_keep_the_system__keeps_it_and_aborts_with_the_first_reason(
    lab: World, state: str, when: str
) -> None:
    recipe_id = begin(lab, state, when)
    tick(lab, 10_800)
    recipe, system = lab.recipes[recipe_id], lab.systems["a"]
    assert (recipe.state, system.usage, system.recipe_id) == ("reserved", "running", recipe_id)
    assert {task.state for task in recipe.tasks} == {"aborted"}
    nothing_expires(lab, DAY_SECONDS)
    tick(lab, 1)
    assert (lab.states(recipe_id), lab.systems["a"].usage) == (["aborted"], "idle")
    (aborted,) = [each for each in lab.log if each.event.TOPIC == "recipe.aborted"]
    assert aborted.event.reason == WATCHDOG_EXPIRED  # type: ignore[attr-defined]
    assert_sound(from_recorded(lab.log))


@pytest.mark.parametrize("state", ["installing", "running"])
def test_lab_controller__gives_up_a_recipe__keeps_its_system_and_says_so_once(lab: World, state: str) -> None:
    recipe_id = begin(lab, state)
    lab.report(recipe_id, LAB_GIVES_UP)
    before = lab.position
    lab.report(recipe_id, LAB_GIVES_UP)
    assert (lab.states(recipe_id), lab.position) == (["reserved"], before)
    lab.change(give_back(lab.members(recipe_id), lab.recipes[recipe_id]))
    assert lab.log[-2].event.reason == LAB_GIVES_UP.reason  # type: ignore[attr-defined]
    assert lab.states(recipe_id) == ["aborted"]
    assert_sound(from_recorded(lab.log))


def test_kept__guests_of_the_host__end(lab: World) -> None:
    host = begin(lab, "running", guests=1)
    lab.report(host + 1, ReportWatchdog(100_000))
    tick(lab, 1_800)
    assert lab.states(host, host + 1) == ["reserved", "aborted"]
    (aborted,) = [each for each in lab.log if each.event.TOPIC == "recipe.aborted"]
    assert aborted.event.reason == HOST_ENDED  # type: ignore[attr-defined]
    assert_sound(from_recorded(lab.log))


def test_kept__job_asked_for_nothing__is_not(lab: World) -> None:
    recipe_id = lab.submit(ANY)
    lab.settle()
    lab.report(recipe_id, ReportInstalling())
    lab.report(recipe_id, LAB_GIVES_UP)
    assert lab.states(recipe_id) == ["aborted"]


def test_kept__lab_controller_has_not_begun__is_not(lab: World) -> None:
    recipe_id = begin(lab, "waiting")
    lab.report(recipe_id, LAB_GIVES_UP)
    assert lab.states(recipe_id) == ["aborted"]


@pytest.mark.parametrize("state", ["installing", "running", "reserved"])
def test_kept__person_cancels_it__is_cancelled(lab: World, state: str) -> None:
    recipe_id = begin(lab, "running" if state == "reserved" else state)
    if state == "reserved":
        lab.report(recipe_id, LAB_GIVES_UP)
    lab.cancel(recipe_id)
    lab.settle()
    assert (lab.states(recipe_id), lab.systems["a"].usage) == (["cancelled"], "idle")


@pytest.mark.parametrize("condition", ["Broken", "Removed"])
@pytest.mark.parametrize("state", ["installing", "running", "reserved"])
def test_kept__system_breaks_or_is_removed__is_aborted(lab: World, state: str, condition: str) -> None:
    recipe_id = begin(lab, "running" if state == "reserved" else state)
    if state == "reserved":
        lab.report(recipe_id, LAB_GIVES_UP)
    lab.set_condition("a", condition)
    assert (lab.states(recipe_id), lab.systems["a"].usage) == (["aborted"], "idle")


def test_kept__forced_and_broken_before__is_not(lab: World) -> None:
    """No recipe keeps a Broken system, even if the recipe forced it."""
    lab.set_condition("a", "Broken")
    kept = {"duration_seconds": DAY_SECONDS, "when": "always"}
    recipe_id = lab.submit(forces("a"), reservesys=kept)
    lab.settle()
    lab.report(recipe_id, ReportInstalling())
    lab.report(recipe_id, LAB_GIVES_UP)
    assert lab.states(recipe_id) == ["aborted"]
