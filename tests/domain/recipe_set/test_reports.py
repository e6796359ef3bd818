"""Reports of labs about recipe sets, and the withdrawal of systems."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from itertools import product

import pytest

from domain.errors import Refused
from domain.events import Decided, Event
from domain.recipe import events as recipe_events
from domain.recipe.events import RecipeAssigned, RecipeQueued
from domain.recipe.lifecycle import FINISHED, RECIPE
from domain.recipe.results import Results
from domain.recipe.state import Recipe
from domain.recipe_set.members import let_go, withdraw
from domain.recipe_set.messages import (
    Report,
    ReportAborted,
    ReportCompleted,
    ReportInstalling,
    ReportTaskEnded,
    ReportTaskResult,
    ReportTaskRunning,
    ReportWatchdog,
    ResultLog,
)
from domain.recipe_set.reports import report
from domain.system import events as system_events
from domain.system.events import SystemIdle, SystemPending
from tests.domain.recipe.samples import recipe_in, system_in
from tests.domain.recipe_set.samples import guest_of, members_of, set_of

RESULT = recipe_events.TaskResult(task_id=1, result="Pass", message="", score=None, log_urls=())
TO_INSTALLING = [recipe_events.RecipeInstalling(system="a"), system_events.SystemInstalling(recipe_id=1)]
TO_RUNNING = [
    recipe_events.RecipeRunning(system="a"),
    system_events.SystemRunning(recipe_id=1),
    recipe_events.TaskStarted(task_id=1),
]
TASK_COMPLETED = recipe_events.TaskCompleted(task_id=1)
TO_COMPLETED = [recipe_events.RecipeCompleted(), system_events.SystemPending()]
TO_ABORTED = [recipe_events.RecipeAborted(reason="no power"), system_events.SystemPending()]
# A recipe that is aborted before its first task: the system was not provisioned.
TO_NOT_PROVISIONED = [
    *TO_ABORTED,
    system_events.SystemProvisioningFailed(recipe_id=1, reason="no power", jobs=[1], distros=["tree 1"]),
]
TO_SIX_HUNDRED: list[Event] = [recipe_events.WatchdogSet(seconds=600)]
NOTHING: list[Event] = []

REPORTS: dict[str, Report] = {
    "installing": ReportInstalling(),
    "task-running": ReportTaskRunning(1),
    "task-result": ReportTaskResult(1, "Pass"),
    "task-completed": ReportTaskEnded(1, "completed"),
    "task-aborted": ReportTaskEnded(1, "aborted"),
    "completed": ReportCompleted(),
    "aborted": ReportAborted("no power"),
    "watchdog": ReportWatchdog(600),
}

# Possible recipes: state, state of the only task, usage of the system.
UNPLACED = [(state, "new", "idle") for state in ("new", "queued", "assigned")]
PLACED = [
    ("scheduled", "new", "scheduled"),
    ("waiting", "new", "waiting"),
    ("installing", "new", "installing"),
    ("waiting", "aborted", "waiting"),
    ("installing", "aborted", "installing"),
    ("running", "new", "running"),
    ("running", "running", "running"),
    ("running", "completed", "running"),
    ("running", "aborted", "running"),
    ("reserved", "completed", "running"),
    ("completed", "completed", "pending"),
    ("cancelled", "cancelled", "pending"),
    ("aborted", "aborted", "pending"),
]

# (state, state of the task, report) -> events. Every other combination is refused.
ANSWERS: dict[tuple[str, str, str], list[Event]] = {
    ("waiting", "new", "installing"): TO_INSTALLING,
    # A repeated report, at any later time.
    ("installing", "new", "installing"): NOTHING,
    ("waiting", "aborted", "installing"): TO_INSTALLING,
    ("installing", "aborted", "installing"): NOTHING,
    ("running", "new", "installing"): NOTHING,
    ("running", "running", "installing"): NOTHING,
    ("running", "completed", "installing"): NOTHING,
    ("running", "aborted", "installing"): NOTHING,
    ("reserved", "completed", "installing"): NOTHING,
    ("completed", "completed", "installing"): NOTHING,
    # The first task makes the recipe running; later tasks only start.
    ("installing", "new", "task-running"): TO_RUNNING,
    ("running", "new", "task-running"): TO_RUNNING[2:],
    # The report of the installation was lost: the started task implies it.
    ("waiting", "new", "task-running"): [*TO_INSTALLING, *TO_RUNNING],
    ("running", "running", "task-running"): NOTHING,
    ("running", "completed", "task-running"): NOTHING,
    ("reserved", "completed", "task-running"): NOTHING,
    ("completed", "completed", "task-running"): NOTHING,
    # Results belong to a task that runs. The report of its start may be lost: a result or the end implies it.
    ("running", "running", "task-result"): [RESULT],
    ("running", "new", "task-result"): [*TO_RUNNING[2:], RESULT],
    ("installing", "new", "task-result"): [*TO_RUNNING, RESULT],
    ("waiting", "new", "task-result"): [*TO_INSTALLING, *TO_RUNNING, RESULT],
    ("running", "new", "task-completed"): [*TO_RUNNING[2:], TASK_COMPLETED],
    ("installing", "new", "task-completed"): [*TO_RUNNING, TASK_COMPLETED],
    ("waiting", "new", "task-completed"): [*TO_INSTALLING, *TO_RUNNING, TASK_COMPLETED],
    ("running", "running", "task-completed"): [TASK_COMPLETED],
    ("running", "completed", "task-completed"): NOTHING,
    ("reserved", "completed", "task-completed"): NOTHING,
    ("completed", "completed", "task-completed"): NOTHING,
    # A task that never started may be aborted too, whether or not another task has started.
    ("scheduled", "new", "task-aborted"): [recipe_events.TaskAborted(task_id=1)],
    ("waiting", "new", "task-aborted"): [recipe_events.TaskAborted(task_id=1)],
    ("installing", "new", "task-aborted"): [recipe_events.TaskAborted(task_id=1)],
    ("running", "new", "task-aborted"): [recipe_events.TaskAborted(task_id=1)],
    ("running", "running", "task-aborted"): [recipe_events.TaskAborted(task_id=1)],
    ("waiting", "aborted", "task-aborted"): NOTHING,
    ("installing", "aborted", "task-aborted"): NOTHING,
    ("running", "aborted", "task-aborted"): NOTHING,
    # The task ended with its recipe.
    ("aborted", "aborted", "task-aborted"): NOTHING,
    # All tasks have ended, one way or another.
    ("running", "completed", "completed"): TO_COMPLETED,
    ("running", "aborted", "completed"): TO_COMPLETED,
    # All tasks were aborted before the first one ran, and the earlier reports were lost.
    ("waiting", "aborted", "completed"): [*TO_INSTALLING, *TO_RUNNING[:2], *TO_COMPLETED],
    ("installing", "aborted", "completed"): [*TO_RUNNING[:2], *TO_COMPLETED],
    # The recipe keeps its system because all tasks have ended: a repeated report.
    ("reserved", "completed", "completed"): NOTHING,
    ("completed", "completed", "completed"): NOTHING,
    # The lab controller may abort the recipe at any time.
    ("scheduled", "new", "aborted"): TO_ABORTED,
    ("waiting", "new", "aborted"): TO_NOT_PROVISIONED,
    ("installing", "new", "aborted"): TO_NOT_PROVISIONED,
    ("waiting", "aborted", "aborted"): TO_NOT_PROVISIONED,
    ("installing", "aborted", "aborted"): TO_NOT_PROVISIONED,
    ("running", "new", "aborted"): TO_ABORTED,
    ("running", "running", "aborted"): TO_ABORTED,
    ("running", "completed", "aborted"): TO_ABORTED,
    ("running", "aborted", "aborted"): TO_ABORTED,
    ("reserved", "completed", "aborted"): TO_ABORTED,
    ("aborted", "aborted", "aborted"): NOTHING,
    # A watchdog runs from the start to the end. A repeated report restarts it.
    ("waiting", "new", "watchdog"): TO_SIX_HUNDRED,
    ("installing", "new", "watchdog"): TO_SIX_HUNDRED,
    ("waiting", "aborted", "watchdog"): TO_SIX_HUNDRED,
    ("installing", "aborted", "watchdog"): TO_SIX_HUNDRED,
    ("running", "new", "watchdog"): TO_SIX_HUNDRED,
    ("running", "running", "watchdog"): TO_SIX_HUNDRED,
    ("running", "completed", "watchdog"): TO_SIX_HUNDRED,
    ("running", "aborted", "watchdog"): TO_SIX_HUNDRED,
    ("reserved", "completed", "watchdog"): TO_SIX_HUNDRED,
}

EVERY = [
    pytest.param(*case, name, id="-".join((*case[:2], name)))
    for case, name in product(UNPLACED + PLACED, REPORTS)
]


def answer(recipe: Recipe, usage: str, message: Report) -> Decided:
    return report(members_of(recipe, system_in(usage)), recipe, message)


def test_cases__all_states__are_covered() -> None:
    assert {state for state, _, _ in UNPLACED + PLACED} == set(RECIPE.states)
    assert {key[:2] for key in ANSWERS} <= {case[:2] for case in PLACED}


@pytest.mark.parametrize(("state", "task", "usage", "name"), EVERY)
def test_report__any_message_in_any_state__is_answered_by_the_table(
    state: str, task: str, usage: str, name: str
) -> None:
    recipe, system = recipe_in(state, task), system_in(usage)
    expected = ANSWERS.get((state, task, name))
    if expected is None:
        with pytest.raises(Refused, match="recipe 1"):
            report(members_of(recipe, system), recipe, REPORTS[name])
        return
    decided = report(members_of(recipe, system), recipe, REPORTS[name])
    assert [event for _, event in decided] == expected
    for subject, event in decided:
        assert subject == ("system/a" if event.TOPIC.startswith("system.") else "recipe/1")


@pytest.mark.parametrize("name", REPORTS)
@pytest.mark.parametrize("state", FINISHED)
def test_report__recipe_has_finished__changes_nothing(state: str, name: str) -> None:
    # The system has another recipe meanwhile.
    with suppress(Refused):
        assert answer(recipe_in(state, state), "running", REPORTS[name]) == []


@pytest.mark.parametrize("condition", ["Manual", "Broken", "Removed"])
@pytest.mark.parametrize(
    "message", [ReportCompleted(), ReportAborted("no power")], ids=["completed", "aborted"]
)
def test_report__end_on_a_system_that_is_not_automated__leaves_it_idle(
    message: Report, condition: str
) -> None:
    recipe = recipe_in("running", "completed")
    decided = report(members_of(recipe, system_in("running", condition)), recipe, message)
    assert decided[-1] == ("system/a", system_events.SystemIdle())


def _two_tasks(first: str, second: str) -> Recipe:
    return recipe_in("running", first, second)


def test_completed__tasks_still_open__names_them() -> None:
    with pytest.raises(Refused, match="recipe 1 has unfinished tasks: 1, 2"):
        answer(_two_tasks("running", "new"), "running", ReportCompleted())


def test_task_running__another_task_runs__starts_too() -> None:
    decided = answer(_two_tasks("running", "new"), "running", ReportTaskRunning(2))
    assert decided == [("recipe/1", recipe_events.TaskStarted(task_id=2))]


@pytest.mark.parametrize(
    "message",
    [ReportTaskRunning(7), ReportTaskResult(7, "Pass"), ReportTaskEnded(7, "completed")],
    ids=["running", "result", "ended"],
)
def test_report__task_of_another_recipe__is_refused(message: Report) -> None:
    with pytest.raises(Refused, match="recipe 1 has no task 7"):
        answer(recipe_in("running", "running"), "running", message)


@pytest.mark.parametrize(
    ("full", "message"),
    [
        (Results(result_count=7_500), ReportTaskResult(1, "Pass")),
        (Results(log_count=7_500), ReportTaskResult(1, "Pass", log_urls=("http://log/",))),
        (Results(log_count=7_499), ReportTaskResult(1, "Pass", logs=(ResultLog("a", "http://a/"),) * 2)),
    ],
    ids=["results", "log-urls", "logs"],
)
def test_task_result__recipe_has_maximum__refused_with_the_limit(
    full: Results, message: ReportTaskResult
) -> None:
    recipe = replace(recipe_in("running", "running"), results=full)
    with pytest.raises(Refused, match="7500"):
        answer(recipe, "running", message)
    assert answer(replace(recipe, results=Results(7_499, 7_498)), "running", message)


def test_report__system_out_of_step__refused_with_its_name() -> None:
    with pytest.raises(Refused, match="system a is idle and cannot become installing"):
        answer(recipe_in("waiting", "new"), "idle", ReportInstalling())


WHY = "a is Broken: fan"
ASSIGNED, QUEUED = RecipeAssigned(lab_controller="lab-1", reason=WHY), RecipeQueued(reason=WHY)


def test_withdraw__set_holds_another_system__stays_in_its_lab() -> None:
    members = set_of("scheduled", "assigned", "scheduled")
    assert withdraw(members, members.recipes[0], WHY) == [("recipe/1", ASSIGNED)]


def test_withdraw__it_was_the_last_system__the_whole_set_is_queued() -> None:
    members = set_of("scheduled", "assigned")
    assert withdraw(members, members.recipes[0], WHY) == [("recipe/1", QUEUED), ("recipe/2", QUEUED)]


@pytest.mark.parametrize(("states", "event"), [(["scheduled"], ASSIGNED), ([], QUEUED)])
def test_withdraw__host_with_a_guest__the_guest_goes_with_it(states: list[str], event: object) -> None:
    members = set_of("scheduled", *states)
    host = members.recipes[0]
    members = replace(members, recipes=(*members.recipes, guest_of(host, 9)))
    assert withdraw(members, host, WHY) == [("recipe/1", event), ("recipe/9", event)]


def test_let_go__holder__every_recipe_is_queued_and_every_system_free() -> None:
    assert let_go(set_of("scheduled", "assigned", "scheduled"), WHY) == [
        ("recipe/1", QUEUED),
        ("recipe/2", QUEUED),
        ("recipe/3", QUEUED),
        ("system/a", SystemPending()),
        ("system/c", SystemPending()),
    ]


def test_let_go__holder_of_a_forced_system_that_is_manual__leaves_it_idle() -> None:
    assert let_go(set_of("scheduled", "assigned", condition="Manual"), WHY)[-1] == ("system/a", SystemIdle())
