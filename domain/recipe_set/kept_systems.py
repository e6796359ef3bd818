"""Recipes that keep their systems after their last task, or after they were given up (`reservesys`).

A recipe that was given up meets every condition in `WHEN`, as if it had the worst result.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from domain.errors import Refused
from domain.events import Decided
from domain.recipe.events import RecipeAborted, RecipeCompleted, RecipeReserved
from domain.recipe.state import Recipe
from domain.recipe_set.ending import abort, end_one, guests_end
from domain.recipe_set.members import Members
from domain.roll_up import RESULT_ORDER, result_of
from domain.system.events import SystemRunning
from domain.system.lifecycle import WITHOUT_RECIPES

DEFAULT_SECONDS: Final = 86_400

# States in which a recipe that is given up keeps its system: earlier there is nothing to inspect on it.
KEPT_FROM: Final = ("installing", "running")


def _at_least(recipe: Recipe, result: str) -> bool:
    """Return whether some result is `result` or worse; an aborted task counts as the worst."""
    worst = result_of(recipe.results.kinds)
    return RESULT_ORDER.index(worst) >= RESULT_ORDER.index(result) or _has_aborted_task(recipe)


def _has_aborted_task(recipe: Recipe) -> bool:
    return any(task.state == "aborted" for task in recipe.tasks)


WHEN: Final[dict[str, Callable[[Recipe], bool]]] = {
    "always": lambda _: True,
    "onwarn": lambda recipe: _at_least(recipe, "Warn"),
    "onfail": lambda recipe: _at_least(recipe, "Fail"),
    "onabort": _has_aborted_task,
}


def kept_seconds(recipe: Recipe) -> int | None:
    """Return the seconds for which a recipe keeps its system after its last task; None if it does not."""
    reservesys = recipe.reservesys
    if reservesys is None or not WHEN[reservesys["when"]](recipe):
        return None
    return int(reservesys["duration_seconds"])


def give_up(members: Members, recipe: Recipe, reason: str) -> Decided:
    """Return the events that abort a recipe, at once or after it has kept its system; none if finished."""
    if not _is_kept_when_given_up(members, recipe):
        return abort(members, recipe, reason)
    assert recipe.system is not None and recipe.reservesys is not None, "the recipe keeps its system"
    seconds = int(recipe.reservesys["duration_seconds"])
    kept: Decided = [
        (recipe.subject, RecipeReserved(system=recipe.system, seconds=seconds, reason=reason)),
        *guests_end(members, recipe),
    ]
    if recipe.state == "installing" and not recipe.is_guest:
        kept.append((f"system/{recipe.system}", SystemRunning(recipe_id=recipe.recipe_id)))
    return kept


def _is_kept_when_given_up(members: Members, recipe: Recipe) -> bool:
    if recipe.reservesys is None or recipe.state not in KEPT_FROM or recipe.system is None:
        return False
    return members.systems[recipe.system].condition not in WITHOUT_RECIPES


def end_kept(members: Members, recipe: Recipe, reason: str | None = None) -> Decided:
    """Return the events that end a reserved recipe: aborted if it was given up, otherwise completed.

    `reason` is that of its return, None if nobody gave one.
    """
    if recipe.abort_reason is None:
        return end_one(members, recipe, RecipeCompleted(reason=reason))
    why = f"{recipe.abort_reason}; returned: {reason}" if reason else recipe.abort_reason
    return end_one(members, recipe, RecipeAborted(reason=why))


def give_back(members: Members, recipe: Recipe, reason: str | None = None) -> Decided:
    """Return the events of the return of a kept system, none if finished. Raises Refused if not reserved."""
    if recipe.finished:
        return []
    if recipe.state != "reserved":
        raise Refused(f"recipe {recipe.recipe_id} is {recipe.state}, not reserved")
    return end_kept(members, recipe, reason)
