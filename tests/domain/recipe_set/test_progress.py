"""Progress of recipe sets, with guests, and changes of priority."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.errors import Refused
from domain.priority import Priority
from domain.recipe import events as recipe_events
from domain.recipe.lifecycle import FINISHED, STARTED
from domain.recipe.state import Recipe
from domain.recipe.state import evolve as evolve_recipe
from domain.recipe_set.ending import HOST_ENDED
from domain.recipe_set.events import RecipeSetPriorityChanged, RecipeSetSubmitted
from domain.recipe_set.members import Members
from domain.recipe_set.messages import (
    Report,
    ReportAborted,
    ReportCompleted,
    ReportInstalling,
    ReportTaskEnded,
    ReportTaskResult,
    ReportTaskRunning,
    ReportWatchdog,
)
from domain.recipe_set.reports import report
from domain.recipe_set.state import RecipeSet, change_priority, evolve
from domain.system.events import SystemPending
from domain.system.state import System
from domain.system.state import evolve as evolve_system
from tests.domain.recipe.samples import moment, recipe_in, system_in
from tests.domain.recipe_set.samples import guest_of, members_of, set_of

Pair = tuple[Recipe, System]

WELL = (
    ReportInstalling(),
    ReportTaskRunning(1),
    ReportTaskResult(1, "Pass", "all good", 1.0, ("http://log/1",)),
    ReportTaskEnded(1, "completed"),
    ReportTaskRunning(2),
    ReportTaskResult(2, "Warn"),
    ReportTaskEnded(2, "completed"),
    ReportCompleted(),
)
ANY = (*WELL, ReportAborted("no power"), ReportTaskEnded(1, "aborted"), ReportTaskEnded(2, "aborted"))


def after(pair: Pair, message: Report) -> Pair:
    recipe, system = pair
    for subject, event in report(members_of(recipe, system), recipe, message):
        if subject == recipe.subject:
            recipe = evolve_recipe(recipe, 1, event, moment(recipe.version + 1))
        else:
            system = evolve_system(system, "a", event, moment(system.version + 1))
    return recipe, system


def after_all(messages: Iterable[Report]) -> Pair:
    pair = recipe_in("waiting", "new", "new"), system_in("waiting")
    for message in messages:
        pair = after(pair, message)
    return pair


def test_reports__all_goes_well__recipe_completed_and_system_pending() -> None:
    recipe, system = after_all(WELL)
    assert (recipe.state, system.usage, system.recipe_id) == ("completed", "pending", None)
    assert [task.state for task in recipe.tasks] == ["completed", "completed"]
    assert (recipe.results.kinds, recipe.results.log_count) == (("Pass", "Warn"), 1)


def test_reports__installing_is_late__all_others_are_accepted() -> None:
    first, *others = WELL
    assert after_all([*others[:3], first, *others[3:]])[0].state == "completed"


@pytest.mark.parametrize("number", range(len(WELL)))
def test_report__repeated_at_once__changes_nothing(number: int) -> None:
    pair = after_all(WELL[: number + 1])
    assert after(pair, WELL[number]) == pair


@pytest.mark.parametrize("message", WELL, ids=lambda message: type(message).__name__)
def test_report__repeated_after_the_end__changes_nothing(message: Report) -> None:
    pair = after_all(WELL)
    assert after(pair, message) == pair


def test_task_result__same_result_with_other_message__counts_twice() -> None:
    recipe, _ = after_all([*WELL[:3], ReportTaskResult(1, "Pass", "still good")])
    assert recipe.results.result_count == 2


def test_task_result__same_result_under_another_path__counts_twice() -> None:
    one, same, other = (ReportTaskResult(1, "Pass", path=path) for path in ("/a", "/a", "/b"))
    recipe, _ = after_all([*WELL[:2], one, same, other])
    assert recipe.results.result_count == 2


STEP = {
    "waiting": "waiting",
    "installing": "installing",
    "running": "running",
    "completed": "pending",
    "aborted": "pending",
}


@given(st.lists(st.sampled_from(ANY), max_size=20))
def test_reports__any_order__recipe_and_system_stay_in_step(messages: list[Report]) -> None:
    pair = recipe_in("waiting", "new", "new"), system_in("waiting")
    for message in messages:
        before = pair
        try:
            pair = after(pair, message)
        except Refused:
            continue
        recipe, system = pair
        assert system.usage == STEP[recipe.state]
        assert (system.recipe_id == 1) == (not recipe.finished)
        if before[0].finished:
            assert pair == before


TASK = 90


def with_guest(host: str, guest: str, task: str = "new") -> Members:
    """Return host 1 on system `a`, and its guest 9 with task 90."""
    members = set_of(host)
    return replace(members, recipes=(*members.recipes, guest_of(members.recipes[0], 9, guest, task)))


MOVES: list[tuple[str, str, Report, list[object]]] = [
    ("waiting", "new", ReportInstalling(), [recipe_events.RecipeInstalling(system="a")]),
    (
        "installing",
        "new",
        ReportTaskRunning(TASK),
        [recipe_events.RecipeRunning(system="a"), recipe_events.TaskStarted(task_id=TASK)],
    ),
    (
        "waiting",
        "new",
        ReportTaskRunning(TASK),
        [
            recipe_events.RecipeInstalling(system="a"),
            recipe_events.RecipeRunning(system="a"),
            recipe_events.TaskStarted(task_id=TASK),
        ],
    ),
    ("running", "running", ReportTaskEnded(TASK, "completed"), [recipe_events.TaskCompleted(task_id=TASK)]),
    ("running", "completed", ReportCompleted(), [recipe_events.RecipeCompleted()]),
    ("running", "running", ReportAborted("panic"), [recipe_events.RecipeAborted(reason="panic")]),
    ("waiting", "new", ReportWatchdog(60), [recipe_events.WatchdogSet(seconds=60)]),
]


@pytest.mark.parametrize("host", ["installing", "running", "reserved"])
@pytest.mark.parametrize(("guest", "task", "message", "events"), MOVES)
def test_report__of_a_guest__changes_only_the_guest(
    guest: str, task: str, message: Report, events: list[object], host: str
) -> None:
    members = with_guest(host, guest, task)
    assert report(members, members.recipe(9), message) == [("recipe/9", event) for event in events]


@pytest.mark.parametrize("guest", STARTED)
def test_report__host_completed__its_guest_is_aborted(guest: str) -> None:
    members = with_guest("running", guest)
    host = replace(members.recipes[0], tasks=())
    assert report(members, host, ReportCompleted()) == [
        ("recipe/1", recipe_events.RecipeCompleted()),
        ("recipe/9", recipe_events.RecipeAborted(reason=HOST_ENDED)),
        ("system/a", SystemPending()),
    ]


@pytest.mark.parametrize("guest", FINISHED)
def test_report__host_aborted_after_its_guest_ended__the_guest_stays_as_it_is(guest: str) -> None:
    members = with_guest("running", guest)
    decided = report(members, members.recipes[0], ReportAborted("no power"))
    assert [subject for subject, _ in decided] == ["recipe/1", "system/a"]


def test_report__host_that_keeps_its_system__leaves_its_guest_running() -> None:
    members = with_guest("running", "running")
    kept = {"duration_seconds": 60, "when": "always"}
    host = replace(members.recipes[0], tasks=(), reservesys=kept)
    decided = report(members, host, ReportCompleted())
    assert decided == [("recipe/1", recipe_events.RecipeReserved(system="a", seconds=60))]


def test_report__guest_of_a_set_that_has_not_started__aborts_the_whole_set() -> None:
    members = with_guest("scheduled", "scheduled")
    decided = report(members, members.recipe(9), ReportAborted("no image"))
    assert [subject for subject, _ in decided] == ["recipe/1", "recipe/9", "system/a"]


def test_report__guest_whose_host_waits_for_a_system__is_refused() -> None:
    members = with_guest("queued", "queued")
    guest = replace(members.recipe(9), system=None)
    with pytest.raises(Refused, match="recipe 9 is queued and has no system"):
        report(members, guest, ReportInstalling())


SUBMITTED = RecipeSetSubmitted(job_id=3, priority="Normal", recipe_ids=[4, 5])


@pytest.fixture
def recipe_set() -> RecipeSet:
    return evolve(None, 7, SUBMITTED, moment(position=40))


def test_submitted__first_event__gives_the_place_in_the_order_of_submission(recipe_set: RecipeSet) -> None:
    assert (recipe_set.subject, recipe_set.job_id, recipe_set.submission) == ("recipe-set/7", 3, 40)
    assert (recipe_set.priority, recipe_set.recipe_ids) == (Priority.Normal, (4, 5))


def test_priority_changed__any_time__keeps_the_place_in_the_order_of_submission(
    recipe_set: RecipeSet,
) -> None:
    changed = evolve(recipe_set, 7, RecipeSetPriorityChanged(priority="Urgent"), moment(2, 90))
    assert (changed.priority, changed.submission, changed.version) == (Priority.Urgent, 40, 2)


@pytest.mark.parametrize("state", ["new", "queued", "scheduled"])
def test_change_priority__set_that_has_not_started__is_changed(recipe_set: RecipeSet, state: str) -> None:
    decided = change_priority(recipe_set, set_of(state), Priority.Urgent)
    assert decided == [("recipe-set/7", RecipeSetPriorityChanged(priority="Urgent"))]


@pytest.mark.parametrize("state", STARTED)
def test_change_priority__set_has_started__is_refused(recipe_set: RecipeSet, state: str) -> None:
    with pytest.raises(Refused, match="recipe set 7 has already started"):
        change_priority(recipe_set, set_of(state), Priority.Urgent)


@pytest.mark.parametrize("state", sorted(FINISHED))
def test_change_priority__set_has_finished__refused_with_state(recipe_set: RecipeSet, state: str) -> None:
    with pytest.raises(Refused, match=f"recipe set 7 is already {state}$"):
        change_priority(recipe_set, set_of(state), Priority.Urgent)


def test_change_priority__same_as_before__changes_nothing(recipe_set: RecipeSet) -> None:
    assert change_priority(recipe_set, set_of("running"), Priority.Normal) == []
