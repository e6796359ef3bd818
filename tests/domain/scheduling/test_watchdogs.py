"""Expired watchdogs of recipes that run, and of recipes that keep their systems."""

from __future__ import annotations

from domain.recipe.watchdog import OVERRIDE
from domain.recipe_set.kept_systems import give_back
from domain.recipe_set.messages import (
    ReportCompleted,
    ReportInstalling,
    ReportTaskEnded,
    ReportTaskRunning,
    ReportWatchdog,
)
from domain.scheduling.supply.reasons import WATCHDOG_EXPIRED
from replay.audit import from_recorded
from tests.domain.scheduling.consistency_loop import nothing_expires, tick
from tests.domain.scheduling.host_requirements import ANYTHING
from tests.domain.scheduling.labs import finish, wanting
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
