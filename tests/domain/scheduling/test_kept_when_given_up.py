"""Recipes that are given up while they install or run, and that keep their systems (`reservesys`)."""

from __future__ import annotations

import pytest

from domain.recipe_set.ending import HOST_ENDED
from domain.recipe_set.kept_systems import WHEN, give_back
from domain.recipe_set.messages import ReportAborted, ReportInstalling, ReportTaskRunning, ReportWatchdog
from domain.scheduling.supply.reasons import WATCHDOG_EXPIRED
from replay.audit import from_recorded
from tests.domain.scheduling.consistency_loop import nothing_expires, tick
from tests.domain.scheduling.host_requirements import ANYTHING, forces
from tests.domain.scheduling.labs import one_lab
from tests.domain.scheduling.world import World
from tests.replay.audit.sound import assert_sound

ANY = ANYTHING.text
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
