"""The deadline of a recipe after each of its events."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from domain.events import Event, Moment
from domain.recipe import events as recipe_events
from domain.recipe.state import Recipe, Task, evolve
from domain.recipe.watchdog import OVERRIDE, of_task
from tests.domain.recipe.samples import recipe_in, recipe_new

NOON = datetime(2024, 1, 1, 12, tzinfo=UTC)


def after(recipe: Recipe, *events: Event, at: datetime | None = NOON) -> Recipe:
    for event in events:
        recipe = evolve(recipe, recipe.recipe_id, event, Moment(recipe.version + 1, 9, at))
    return recipe


def seconds(recipe: Recipe) -> float | None:
    """Return the seconds from noon to the deadline."""
    return None if recipe.deadline is None else (recipe.deadline - NOON).total_seconds()


WAITING = recipe_events.RecipeWaiting(system="a")
INSTALLING = recipe_events.RecipeInstalling(system="a")
RUNNING = recipe_events.RecipeRunning(system="a")


def test_watchdog__set_starts__has_three_hours_until_the_first_task() -> None:
    recipe = after(recipe_in("scheduled", "new"), WAITING)
    assert seconds(recipe) == 10_800
    # Provisioning is part of that time: the watchdog does not restart.
    later = after(recipe, INSTALLING, at=NOON + timedelta(hours=1))
    assert seconds(later) == 10_800


def test_watchdog__task_starts__has_half_an_hour_from_then_on() -> None:
    recipe = after(recipe_in("installing", "new", "new"), RUNNING, recipe_events.TaskStarted(task_id=1))
    assert seconds(recipe) == 1_800
    assert seconds(after(recipe, recipe_events.TaskCompleted(task_id=1))) == 1_800
    second = after(recipe, recipe_events.TaskStarted(task_id=2), at=NOON + timedelta(minutes=20))
    assert seconds(second) == 1_200 + 1_800


def test_watchdog__task_with_own_time__uses_it() -> None:
    recipe = replace(recipe_in("running"), tasks=(Task(1, "/check", watchdog_seconds=9_000),))
    assert seconds(after(recipe, recipe_events.TaskStarted(task_id=1))) == 9_000


OVERRIDES = [
    ("7200", 7_200),
    ("0", 0),
    # Missing or invalid.
    (None, 1_800),
    ("", 1_800),
    ("2h", 1_800),
    ("-5", 1_800),
    ("²", 1_800),
    ("31536000", 1_800),
]


@pytest.mark.parametrize(("said", "expected"), OVERRIDES)
def test_of_task__parameter_of_the_harness__used_if_it_is_a_number(said: str | None, expected: int) -> None:
    params = {} if said is None else {OVERRIDE: said}
    assert of_task(params) == expected
    task = {"task_id": 1, "name": "/check", "role": None, "params": params}
    recipe = evolve(None, 1, recipe_new(1, tasks=[task]), Moment(1, 1, NOON))
    assert recipe.tasks[0].watchdog_seconds == expected


@pytest.mark.parametrize("state", ["waiting", "installing", "running", "reserved"])
def test_watchdog_set__while_it_runs__counts_from_then_on(state: str) -> None:
    assert seconds(after(recipe_in(state), recipe_events.WatchdogSet(seconds=600))) == 600


def test_watchdog__system_is_kept__has_requested_time() -> None:
    recipe = after(recipe_in("running"), recipe_events.RecipeReserved(system="a", seconds=86_400))
    assert seconds(recipe) == 86_400


def test_extension__of_a_deadline__adds_up_until_the_next_attempt() -> None:
    extended = recipe_events.RecipeExtended(seconds=7_200, reason="debugging")
    recipe = after(recipe_in("running"), recipe_events.WatchdogSet(seconds=600), extended, extended)
    assert (seconds(recipe), recipe.extended_seconds) == (15_000, 14_400)
    # The start of a task sets the watchdog anew, but the total remains.
    recipe = after(recipe, recipe_events.WatchdogSet(seconds=60))
    assert (seconds(recipe), recipe.extended_seconds) == (60, 14_400)
    assert after(recipe, recipe_events.RecipeQueued(reason="its system broke")).extended_seconds == 0
    without = after(replace(recipe_in("waiting"), host_recipe_id=7, deadline=None), extended)
    assert without.deadline is None


ENDS = [
    recipe_events.RecipeCompleted(),
    recipe_events.RecipeCancelled(reason="not needed"),
    recipe_events.RecipeAborted(reason="no power"),
    # Preempted, or its system was withdrawn.
    recipe_events.RecipeQueued(reason="its system broke"),
]


@pytest.mark.parametrize("event", ENDS, ids=lambda event: event.TOPIC)
def test_watchdog__recipe_leaves_its_system__stops(event: Event) -> None:
    assert after(recipe_in("scheduled", "new"), WAITING, event).deadline is None


def test_watchdog__guest__starts_with_its_installation() -> None:
    guest = replace(recipe_in("scheduled", "new"), host_recipe_id=7)
    waiting = after(guest, WAITING)
    # A task of the host installs the guest; until then only the watchdog of the host runs.
    assert waiting.deadline is None
    assert seconds(after(waiting, INSTALLING, at=NOON + timedelta(hours=5))) == 5 * 3_600 + 10_800


def test_watchdog__tentative_event__sets_no_deadline() -> None:
    assert after(recipe_in("scheduled", "new"), WAITING, at=None).deadline is None
    running = after(recipe_in("scheduled", "new"), WAITING)
    assert seconds(after(running, recipe_events.WatchdogSet(seconds=5), at=None)) == 10_800
