"""What the log tells of by subject and keeps versions of: recipes, recipe sets and systems, as one type."""

from __future__ import annotations

from collections.abc import Callable

from domain.events import Event, Moment, split_subject
from domain.recipe.state import Recipe
from domain.recipe.state import evolve as evolve_recipe
from domain.recipe_set.state import RecipeSet
from domain.recipe_set.state import evolve as evolve_recipe_set
from domain.system.state import System
from domain.system.state import evolve as evolve_system

State = Recipe | RecipeSet | System


def evolve(subject: str, state: State | None, event: Event, moment: Moment) -> State:
    """A recipe, recipe set or system after one more event."""
    kind, name = split_subject(subject)
    return _EVOLVE[kind](state, name, event, moment)


def supposed(subject: str, state: State, event: Event) -> State:
    """The same after an event that was decided: not in the log yet, it has no position there and no time."""
    return evolve(subject, state, event, Moment(state.version + 1, 0, None))


def _recipe(state: State | None, name: str, event: Event, moment: Moment) -> State:
    assert state is None or isinstance(state, Recipe)
    return evolve_recipe(state, int(name), event, moment)


def _recipe_set(state: State | None, name: str, event: Event, moment: Moment) -> State:
    assert state is None or isinstance(state, RecipeSet)
    return evolve_recipe_set(state, int(name), event, moment)


def _system(state: State | None, name: str, event: Event, moment: Moment) -> State:
    assert state is None or isinstance(state, System)
    return evolve_system(state, name, event, moment)


_EVOLVE: dict[str, Callable[[State | None, str, Event, Moment], State]] = {
    "recipe": _recipe,
    "recipe-set": _recipe_set,
    "system": _system,
}
