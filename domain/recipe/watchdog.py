"""How long a recipe has: until its first task, in a task, and while it keeps its system (design 4.5)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from domain.events import Event
from domain.recipe import events as happened
from domain.recipe.lifecycle import STARTED

if TYPE_CHECKING:
    from domain.recipe.state import Recipe

FIRST_TASK_SECONDS: Final = 10_800
TASK_SECONDS: Final = 1_800

# The harnesses' own word for a task that needs another time than the usual one.
OVERRIDE: Final = "KILLTIMEOVERRIDE"


def of_task(params: Mapping[str, str]) -> int:
    """Seconds from the start of a task: what the job says, else the usual ones."""
    asked = params.get(OVERRIDE, "")
    # A text that is no sensible number of seconds (a year is not) says nothing.
    sensible = asked.isascii() and asked.isdecimal() and 0 < len(asked) < 8
    return int(asked) if sensible else TASK_SECONDS


def after_state(recipe: Recipe, event: Event, at: datetime | None) -> datetime | None:
    """When the watchdog of `recipe` expires after an event that changes its state at `at`."""
    if at is None:
        return recipe.deadline
    if isinstance(event, happened.RecipeReserved):
        return at + timedelta(seconds=event.seconds)
    # A guest is installed by a task of its host, whenever that comes; until then its host's watchdog holds.
    begins = happened.RecipeInstalling if recipe.is_guest else happened.RecipeWaiting
    if isinstance(event, begins):
        return at + timedelta(seconds=FIRST_TASK_SECONDS)
    return recipe.deadline if getattr(event, "STATE", None) in STARTED else None


def after_report(recipe: Recipe, event: Event, at: datetime | None) -> datetime | None:
    """The same after an event that leaves the state as it is; `recipe` knows the event already."""
    if at is None:
        return recipe.deadline
    if isinstance(event, happened.WatchdogSet):
        return at + timedelta(seconds=event.seconds)
    if isinstance(event, happened.TaskStarted):
        task = recipe.task(event.task_id)
        return recipe.deadline if task is None else at + timedelta(seconds=task.watchdog_seconds)
    return recipe.deadline
