"""A recipe keeps its system after its last task, or returns it (`reservesys`; notes on Beaker, section 2)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from domain.errors import Refused
from domain.events import Decided
from domain.recipe.events import RecipeCompleted
from domain.recipe.state import Recipe
from domain.recipe_set.ending import end_one
from domain.recipe_set.members import Members
from domain.roll_up import RESULT_ORDER, result_of

DEFAULT_SECONDS: Final = 86_400


def _at_least(recipe: Recipe, result: str) -> bool:
    """Whether some result is this bad, or a task was given up, which says less than any result."""
    worst = result_of(recipe.results.kinds)
    return RESULT_ORDER.index(worst) >= RESULT_ORDER.index(result) or _given_up(recipe)


def _given_up(recipe: Recipe) -> bool:
    return any(task.state == "aborted" for task in recipe.tasks)


WHEN: Final[dict[str, Callable[[Recipe], bool]]] = {
    "always": lambda _: True,
    "onwarn": lambda recipe: _at_least(recipe, "Warn"),
    "onfail": lambda recipe: _at_least(recipe, "Fail"),
    "onabort": _given_up,
}


def kept_seconds(recipe: Recipe) -> int | None:
    """For how long it keeps the system, or None if it does not."""
    asked = recipe.reservesys
    if asked is None or not WHEN[asked["when"]](recipe):
        return None
    return int(asked["duration_seconds"])


def give_back(members: Members, recipe: Recipe) -> Decided:
    """A recipe that keeps its system returns it; nothing if it has ended. Raises Refused for any other."""
    if recipe.finished:
        return []
    if recipe.state != "reserved":
        raise Refused(f"{recipe.subject} is {recipe.state}: it is not keeping its system")
    return end_one(members, recipe, RecipeCompleted())
