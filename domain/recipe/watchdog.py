"""Deadlines of recipes: for the first task, during a task, and while the system is kept (design 4.5)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final, TypeAlias

from domain.events import Event, Moment
from domain.fast_dataclasses import changed
from domain.recipe import events as recipe_events
from domain.recipe.lifecycle import STARTED

if TYPE_CHECKING:
    from domain.recipe.state import Recipe

FIRST_TASK_SECONDS: Final = 10_800
TASK_SECONDS: Final = 1_800

Deadlines: TypeAlias = tuple[datetime | None, datetime | None]
"""Deadlines that count from the time of the decision, and from the time at which the event was recorded."""

NEVER: Final[Deadlines] = (None, None)

# The task parameter that overrides the default time, as in the Beaker harnesses.
OVERRIDE: Final = "KILLTIMEOVERRIDE"


def of_task(params: Mapping[str, str]) -> int:
    """Return the seconds that a task may take: by its parameters, otherwise the default."""
    override = params.get(OVERRIDE, "")
    # A value that is not a decimal number of at most 7 digits is ignored.
    is_valid = override.isascii() and override.isdecimal() and 0 < len(override) < 8
    return int(override) if is_valid else TASK_SECONDS


def after_state(recipe: Recipe, event: Event, moment: Moment) -> Deadlines:
    """Return the deadlines after an event that changes the state; `recipe` is the state before the event."""
    if moment.at is None:
        return recipe.deadlines
    if isinstance(event, recipe_events.RecipeReserved):
        return _counted(moment, event.seconds)
    # A task of the host installs a guest at any time, so a guest has no deadline until it is installing.
    begins = recipe_events.RecipeInstalling if recipe.is_guest else recipe_events.RecipeWaiting
    if isinstance(event, begins):
        # A recipe that waits for its locks has no deadline until it has them.
        is_started = not isinstance(event, recipe_events.RecipeWaiting) or event.locks is not None
        return _counted(moment, FIRST_TASK_SECONDS) if is_started else NEVER
    return recipe.deadlines if getattr(event, "STATE", None) in STARTED else NEVER


def after_report(recipe: Recipe, event: Event, moment: Moment) -> Deadlines:
    """Return the deadlines after an event that keeps the state; `recipe` has the tasks after the event."""
    if moment.at is None:
        return recipe.deadlines
    if isinstance(event, recipe_events.WatchdogSet):
        return _counted(moment, event.seconds)
    if isinstance(event, recipe_events.RecipeLocked) and not recipe.is_guest:
        return _counted(moment, FIRST_TASK_SECONDS)
    if isinstance(event, recipe_events.TaskStarted) and (task := recipe.task(event.task_id)) is not None:
        return _counted(moment, task.watchdog_seconds)
    return recipe.deadlines


def longest_seconds(recipe: Recipe) -> int:
    """Return the longest time that the watchdogs allow from the start of a recipe to its end."""
    return FIRST_TASK_SECONDS + sum(task.watchdog_seconds for task in recipe.tasks) + _kept_seconds(recipe)


def latest_end(recipe: Recipe, now: datetime) -> datetime:
    """Return the time at which the watchdogs end an unfinished recipe at the latest, if nobody extends it.

    A recipe without a deadline is taken to start now.
    """
    deadline = recipe.recorded_deadline or now + timedelta(seconds=FIRST_TASK_SECONDS)
    if recipe.state == "reserved":
        return deadline
    left = sum(task.watchdog_seconds for task in recipe.tasks if task.state == "new")
    return deadline + timedelta(seconds=left + _kept_seconds(recipe))


def _kept_seconds(recipe: Recipe) -> int:
    """Return the seconds for which a recipe may keep its system after its last task."""
    return 0 if recipe.reservesys is None else int(recipe.reservesys["duration_seconds"])


def extended(deadlines: Deadlines, seconds: int) -> Deadlines:
    """Return the deadlines moved by seconds; one that is not set stays so."""
    by_at, by_recorded_at = (each and each + timedelta(seconds=seconds) for each in deadlines)
    return by_at, by_recorded_at


def _counted(moment: Moment, seconds: int) -> Deadlines:
    assert moment.at is not None, "an event without a time sets no deadline"
    delay = timedelta(seconds=seconds)
    return moment.at + delay, None if moment.recorded_at is None else moment.recorded_at + delay


def recorded(recipe: Recipe, at: datetime, recorded_at: datetime) -> Recipe:
    """Return a tentative recipe with its recorded deadline, after its commit was recorded."""
    if recipe.deadline is None or recipe.recorded_deadline is not None:
        return recipe
    return changed(recipe, recorded_deadline=recipe.deadline + (recorded_at - at))
