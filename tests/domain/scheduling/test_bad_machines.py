"""Bad machines, and labs that are silent."""

from __future__ import annotations

from collections.abc import Callable

import orjson
import pytest

from domain.directory.events import LabControllerChanged, LabControllerHeard, LabControllerRegistered
from domain.events import data_of, from_data
from domain.recipe_set.messages import (
    Report,
    ReportAborted,
    ReportInstalling,
    ReportTaskResult,
    ReportTaskRunning,
)
from domain.recipe_set.provisioning import ProvisioningFailure, provisioning_failed
from domain.scheduling.explaining.waiting import WaitingOptions, why_it_waits
from domain.scheduling.supply.reasons import ALL_BROKEN, ALL_SILENT, LAB_SILENT, NONE_USABLE, WATCHDOG_EXPIRED
from replay.audit import from_recorded
from tests.domain.scheduling.consistency_loop import tick
from tests.domain.scheduling.host_requirements import ANYTHING, forces, named
from tests.domain.scheduling.labs import finish, one_lab, wanting
from tests.domain.scheduling.rules import WAKING, rules
from tests.domain.scheduling.world import World
from tests.replay.audit.sound import assert_sound

ANY = ANYTHING.text
FAILED = ReportAborted("no boot")


@pytest.fixture
def lab() -> World:
    """Return a world with one lab, one system and three distro trees."""
    world = one_lab()
    for tree_id in (2, 3):
        world.put_tree(tree_id, "x86_64", ["lab-1"])
    world.add_idle("a")
    return world


def limit(world: World, broken_after: int) -> None:
    world.commit([("lab-controller/lab-1", LabControllerChanged(broken_after=broken_after))])


def fail_once(world: World, tree_id: int, message: Report = FAILED, **new: object) -> int:
    """Submit a recipe that gets the system, and report that it could not be provisioned."""
    world.settle()
    recipe_id = world.submit(ANY, tree_id, **new)
    world.settle()
    assert world.states(recipe_id) == ["waiting"]
    world.report(recipe_id, ReportInstalling())
    world.report(recipe_id, message)
    return recipe_id


def test_failures__of_two_jobs_and_two_trees__break_the_system_at_once(lab: World) -> None:
    fail_once(lab, 1)
    assert lab.systems["a"].usage == "pending"
    second = _waiting(lab, 2)
    waiting = [lab.submit(ANY), lab.submit(ANY)]
    lab.settle()
    lab.report(second, ReportInstalling())
    before = lab.position
    lab.report(second, FAILED)
    commit = [each for each in lab.log if each.position > before]
    assert [each.event.TOPIC for each in commit] == [
        "system.provisioning-failed",
        "system.condition-changed",
        "recipe.aborted",
        "system.idle",
    ]
    lab.settle()
    assert lab.systems["a"].condition == "Broken"
    assert set(lab.states(*waiting)) == {"queued"}
    (reason,) = [each.event.reason for each in commit if each.event.TOPIC == "system.condition-changed"]
    assert "2 jobs and 2 distros" in reason and f"recipe {second}: no boot" in reason
    assert_sound(from_recorded(lab.log))


# The jobs and trees of consecutive failures, and whether they break the system.
ROWS = [
    ([{"tree_id": 1}, {"tree_id": 1}, {"tree_id": 1}], False),
    ([{"tree_id": 1, "job_id": 7}, {"tree_id": 2, "job_id": 7}, {"tree_id": 3, "job_id": 7}], False),
    ([{"tree_id": 1}, {"tree_id": 2}], True),
    # Failures of other jobs in between do not count as a success.
    ([{"tree_id": 1, "job_id": 7}, {"tree_id": 1, "job_id": 7}, {"tree_id": 2}], True),
]


@pytest.mark.parametrize(("row", "breaks"), ROWS)
def test_failures__in_a_row__break_it_by_different_jobs_and_trees(
    lab: World, row: list[dict[str, int]], breaks: bool
) -> None:
    for each in row:
        fail_once(lab, **each)
    assert lab.systems["a"].condition == ("Broken" if breaks else "Automated")


def test_failures__one_job_of_200_recipes_with_a_bad_kickstart__break_no_system(lab: World) -> None:
    lab.add_idle(*(f"s{number}" for number in range(9)))
    recipes = [lab.submit(ANY, 1 + number % 3, job_id=1) for number in range(200)]
    lab.settle()
    while given := lab.in_state("waiting"):
        for recipe in given:
            lab.report(recipe.recipe_id, ReportInstalling())
            lab.report(recipe.recipe_id, FAILED)
        lab.settle()
    assert set(lab.states(*recipes)) == {"aborted"}
    assert {system.condition for system in lab.systems.values()} == {"Automated"}


def test_failures__a_first_task_between_them__are_not_in_a_row(lab: World) -> None:
    fail_once(lab, 1)
    finish(lab, _waiting(lab))
    fail_once(lab, 2)
    assert lab.systems["a"].condition == "Automated"


def _waiting(world: World, tree_id: int = 1) -> int:
    recipe_id = world.submit(ANY, tree_id)
    world.settle()
    return recipe_id


def test_failures__repaired_between_them__are_not_in_a_row(lab: World) -> None:
    fail_once(lab, 1)
    fail_once(lab, 2)
    lab.set_condition("a", "Automated")
    fail_once(lab, 3)
    assert lab.systems["a"].condition == "Automated"


@pytest.mark.parametrize(("broken_after", "conditions"), [(0, "AAA"), (1, "B"), (3, "AAB")])
def test_failures__limit_of_the_lab_controller__counts(
    lab: World, broken_after: int, conditions: str
) -> None:
    limit(lab, broken_after)
    for tree_id, condition in enumerate(conditions, start=1):
        fail_once(lab, tree_id)
        assert lab.systems["a"].condition[0] == condition


KEPT = {"duration_seconds": 60, "when": "onabort"}


def test_failures__of_recipes_that_keep_the_system__are_in_a_row(lab: World) -> None:
    limit(lab, 3)
    for tree_id in (1, 2):
        kept = fail_once(lab, tree_id, reservesys=KEPT)
        assert lab.states(kept) == ["reserved"]
        tick(lab, 60)
    last = fail_once(lab, 3, reservesys=KEPT)
    # No recipe keeps a Broken system.
    assert (lab.states(last), lab.systems["a"].condition) == (["aborted"], "Broken")
    assert_sound(from_recorded(lab.log))


def _panics(world: World, recipe_id: int) -> None:
    task_id = world.recipes[recipe_id].tasks[0].task_id
    world.report(recipe_id, ReportTaskResult(task_id, "Panic", "not syncing"))


def _expires(world: World, _: int) -> None:
    tick(world, 10_800)


@pytest.mark.parametrize(
    ("fails", "reason"), [(_panics, "panic during installation: not syncing"), (_expires, WATCHDOG_EXPIRED)]
)
def test_failures__panic_or_watchdog_of_an_installation__count(
    lab: World, fails: Callable[[World, int], None], reason: str
) -> None:
    for tree_id in (1, 2):
        recipe_id = _waiting(lab, tree_id)
        lab.report(recipe_id, ReportInstalling())
        fails(lab, recipe_id)
        assert lab.states(recipe_id) == ["aborted"]
        assert reason in str(lab.log[-2].event) + str(lab.log[-3].event) + str(lab.log[-4].event)
    assert lab.systems["a"].condition == "Broken"
    assert_sound(from_recorded(lab.log))


def test_panic__of_a_running_task__is_a_result_and_no_failure(lab: World) -> None:
    for tree_id in (1, 2):
        recipe_id = _waiting(lab, tree_id)
        task_id = lab.recipes[recipe_id].tasks[0].task_id
        for message in (ReportInstalling(), ReportTaskRunning(task_id)):
            lab.report(recipe_id, message)
        _panics(lab, recipe_id)
        assert lab.states(recipe_id) == ["running"]
        lab.report(recipe_id, FAILED)
        lab.settle()
    assert lab.systems["a"].condition == "Automated"


def test_failures__lab_controller_never_began__not_counted(lab: World) -> None:
    for tree_id in (1, 2):
        recipe_id = _waiting(lab, tree_id)
        tick(lab, 10_800)
        assert lab.states(recipe_id) == ["aborted"]
    assert lab.systems["a"].condition == "Automated"


@pytest.mark.parametrize(
    ("broken_after", "condition", "becomes"),
    [(2, "Automated", "Broken"), (0, "Automated", "Automated"), (2, "Manual", "Manual")],
)
def test_power__failed_once__breaks_an_automated_system_at_once(
    lab: World, broken_after: int, condition: str, becomes: str
) -> None:
    recipe_id = _waiting(lab)
    if condition != "Automated":
        lab.set_condition("a", condition)
    failure = ProvisioningFailure("command 7 failed: no answer", is_power=True)
    lab.change(provisioning_failed(lab.members(recipe_id), lab.recipes[recipe_id], failure, broken_after))
    assert (lab.states(recipe_id), lab.systems["a"].condition) == (["aborted"], becomes)


def test_failures__one_bad_machine_and_20_recipes__aborts_two(lab: World) -> None:
    """The limit of failures bounds the damage: 19 recipes were aborted without it."""
    lab.add_idle("b")
    recipes = [lab.submit(ANY, 1 + number % 3) for number in range(20)]
    lab.settle()
    while given := lab.in_state("waiting"):
        for recipe in given:
            if recipe.system == "a":
                lab.report(recipe.recipe_id, FAILED)
            else:
                lab.complete(recipe.recipe_id)
            lab.settle()
    assert sorted(lab.states(*recipes)) == ["aborted"] * 2 + ["completed"] * 18


def test_failure__stored_and_read__equal(lab: World) -> None:
    fail_once(lab, 1)
    (event,) = [each.event for each in lab.log if each.event.TOPIC == "system.provisioning-failed"]
    assert from_data(event.TOPIC, event.VERSION, orjson.loads(orjson.dumps(data_of(event)))) == event


def two_labs() -> World:
    world = one_lab()
    world.add_lab("lab-2")
    world.put_tree(1, "x86_64", ["lab-1", "lab-2"])
    return world


@pytest.mark.parametrize("wants", [ANY, named("a"), forces("a")], ids=["any", "named", "forced"])
def test_silent_lab__job_comes__waits_until_it_is_heard(world: World, wants: str) -> None:
    world.add_idle("a")
    world.fall_silent("lab-1")
    waiting = world.submit(wants)
    world.settle()
    assert world.states(waiting) == ["queued"]
    assert reason_of(world, waiting) == ALL_SILENT
    world.hear("lab-1")
    world.settle()
    assert world.system_of(waiting) == "a"


def test_silent_lab__system_is_pending__gets_no_recipe(world: World) -> None:
    world.add_idle("a")
    first, waiting = world.submit(ANY), world.submit(ANY)
    world.settle()
    world.fall_silent("lab-1")
    world.complete(first)
    world.settle()
    assert (world.states(waiting), world.systems["a"].usage) == (["queued"], "idle")
    world.hear("lab-1")
    world.settle()
    assert world.system_of(waiting) == "a"


def test_silent_lab__forced_system_is_broken__waits_too(world: World) -> None:
    world.add_system("a", condition="Broken")
    world.fall_silent("lab-1")
    waiting = world.submit(forces("a"))
    world.settle()
    assert world.states(waiting) == ["queued"]
    world.hear("lab-1")
    world.settle()
    assert world.system_of(waiting) == "a"


def test_silent_lab__set_holds_some_of_its_systems__lets_go_and_another_lab_takes_it() -> None:
    world = two_labs()
    world.add_idle("a", "b")
    busy = world.submit(named("b"))
    world.settle()
    holder = wanting(world, "a", "b")
    assert world.states(*holder) == ["scheduled", "assigned"]
    world.fall_silent("lab-1")
    world.settle()
    assert world.states(*holder, busy) == ["queued", "queued", "waiting"]
    assert world.systems["a"].usage == "idle"


def test_silent_lab__another_lab_serves__job_goes_there() -> None:
    world = two_labs()
    world.add_idle("a")
    world.add_system("z", lab="lab-2")
    world.settle()
    world.fall_silent("lab-1")
    recipe_id = world.submit(ANY)
    world.settle()
    assert world.system_of(recipe_id) == "z"


def test_why_it_waits__broken_systems_beside_silent_labs__named_by_what_would_help() -> None:
    world = two_labs()
    world.add_system("a", condition="Broken")
    world.add_system("z", lab="lab-2")
    world.settle()
    world.fall_silent("lab-2")
    assert reason_of(world, submitted(world, named("a"))) == ALL_BROKEN
    assert reason_of(world, submitted(world, named("z"))) == ALL_SILENT
    assert reason_of(world, submitted(world, ANY)) == ALL_SILENT
    world.enable("lab-1", False)
    world.set_condition("a", "Automated")
    world.settle()
    assert reason_of(world, submitted(world, ANY)) == NONE_USABLE


def submitted(world: World, wants: str) -> int:
    recipe_id = world.submit(wants)
    world.settle()
    return recipe_id


def reason_of(world: World, recipe_id: int) -> str:
    """Return the reason in the last event of a recipe."""
    events = [row.event for row in world.log if row.subject == f"recipe/{recipe_id}"]
    return str(events[-1].reason)  # type: ignore[attr-defined]


# Labs that were never heard


def test_new_lab__registered_by_now__is_heard_before_it_gets_recipes() -> None:
    world = World()
    world.commit([("lab-controller/lab-1", LabControllerRegistered(enabled=True, silent=True))])
    world.put_tree(1, "x86_64", ["lab-1"])
    world.add_idle("a")
    waiting = world.submit(ANY)
    assert tick(world, 10, {}).decisions == []
    assert world.states(waiting) == ["queued"]
    found = tick(world, 10, {"lab-1": world.now})
    assert found.decisions[0].events == (("lab-controller/lab-1", LabControllerHeard()),)
    assert world.system_of(waiting) == "a"


def test_old_lab__registered_before_version_5__gets_recipes_unheard() -> None:
    stored = from_data("lab-controller.registered", 1, {"enabled": True})
    assert stored == LabControllerRegistered(enabled=True, silent=False)
    world = World()
    world.commit([("lab-controller/lab-1", stored)])
    world.put_tree(1, "x86_64", ["lab-1"])
    world.add_idle("a")
    recipe_id = submitted(world, ANY)
    assert world.system_of(recipe_id) == "a"


def test_wake_up__row_removed__no_grant_when_the_lab_is_heard() -> None:
    world = one_lab(rules(wakes=WAKING - {"lab heard"}))
    world.add_idle("a")
    world.fall_silent("lab-1")
    waiting = submitted(world, ANY)
    world.hear("lab-1")
    world.settle()
    assert world.states(waiting) == ["queued"]


def test_explain__system_of_a_silent_lab__says_so(world: World) -> None:
    world.add_idle("a")
    world.fall_silent("lab-1")
    waiting = submitted(world, ANY)
    host = world.partition.sets.recipes[waiting]
    (candidate,) = why_it_waits(world.partition, host, WaitingOptions(limit=1)).systems
    assert (candidate.verdict, candidate.reasons) == ("not now", (f"{LAB_SILENT}: lab-1",))
