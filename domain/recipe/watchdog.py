"""Watchdogs of recipes: before the first task, in a task, and while the system is kept (design 4.5)."""

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
"""The deadlines from the time that the event itself names, and from the time at which it was recorded."""

NEVER: Final[Deadlines] = (None, None)

# The task parameter that overrides the default time, as in the Beaker harnesses.
OVERRIDE: Final = "KILLTIMEOVERRIDE"


def of_task(params: Mapping[str, str]) -> int:
    """Return the seconds from the start of a task: those of the job, else the default."""
    asked = params.get(OVERRIDE, "")
    # A text that is no number of seconds, or a number with 8 digits or more, is ignored.
    sensible = asked.isascii() and asked.isdecimal() and 0 < len(asked) < 8
    return int(asked) if sensible else TASK_SECONDS


def after_state(recipe: Recipe, event: Event, moment: Moment) -> Deadlines:
    """Return the deadlines of `recipe` after an event that changes its state."""
    if moment.at is None:
        return recipe.deadlines
    if isinstance(event, recipe_events.RecipeReserved):
        return _counted(moment, event.seconds)
    # A task of the host installs the guest at any time; until then only the watchdog of the host counts.
    begins = recipe_events.RecipeInstalling if recipe.is_guest else recipe_events.RecipeWaiting
    if isinstance(event, begins):
        return _counted(moment, FIRST_TASK_SECONDS)
    return recipe.deadlines if getattr(event, "STATE", None) in STARTED else NEVER


def after_report(recipe: Recipe, event: Event, moment: Moment) -> Deadlines:
    """Return the deadlines after an event that keeps the state; `recipe` contains the event already."""
    if moment.at is None:
        return recipe.deadlines
    if isinstance(event, recipe_events.WatchdogSet):
        return _counted(moment, event.seconds)
    if isinstance(event, recipe_events.TaskStarted) and (task := recipe.task(event.task_id)) is not None:
        return _counted(moment, task.watchdog_seconds)
    return recipe.deadlines


def _counted(moment: Moment, seconds: int) -> Deadlines:
    """Return the deadlines that count from both times of an event."""
    assert moment.at is not None, "an event without a time sets no deadline"
    left = timedelta(seconds=seconds)
    return moment.at + left, None if moment.recorded_at is None else moment.recorded_at + left


def recorded(recipe: Recipe, at: datetime, recorded_at: datetime) -> Recipe:
    """Complete the deadlines of a recipe whose decision was made `at` a time and recorded at another."""
    if recipe.deadline is None or recipe.recorded_deadline is not None:
        return recipe
    return changed(recipe, recorded_deadline=recipe.deadline + (recorded_at - at))
