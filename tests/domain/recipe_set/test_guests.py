"""Reports on guests: they have their own states, and never change the system of the host."""

from __future__ import annotations

from dataclasses import replace

import pytest

from domain.errors import Refused
from domain.recipe import events as recipe_events
from domain.recipe.lifecycle import FINISHED, STARTED
from domain.recipe_set.ending import HOST_ENDED
from domain.recipe_set.members import Members
from domain.recipe_set.messages import (
    Report,
    ReportAborted,
    ReportCompleted,
    ReportInstalling,
    ReportTaskEnded,
    ReportTaskRunning,
    ReportWatchdog,
)
from domain.recipe_set.reports import report
from domain.system.events import SystemPending
from tests.domain.recipe_set.samples import guest_of, set_of

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
