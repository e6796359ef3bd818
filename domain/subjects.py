"""One type for the states of recipes, recipe sets and systems, and their common `evolve`."""

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
    """Return the state of a recipe, recipe set or system after an event; `state` is None before the first."""
    if state is not None:
        return evolve_existing(state, event, moment)
    kind, name = split_subject(subject)
    return _BEGIN[kind](name, event, moment)


def evolve_existing(state: State, event: Event, moment: Moment) -> State:
    if isinstance(state, Recipe):
        return evolve_recipe(state, state.recipe_id, event, moment)
    if isinstance(state, System):
        return evolve_system(state, state.fqdn, event, moment)
    return evolve_recipe_set(state, state.recipe_set_id, event, moment)


def evolve_tentatively(subject: str, state: State, event: Event) -> State:
    """Return the state after a tentative event, which gets position 0 and no time."""
    return evolve(subject, state, event, Moment(state.version + 1, 0, None))


_BEGIN: dict[str, Callable[[str, Event, Moment], State]] = {
    "recipe": lambda name, event, moment: evolve_recipe(None, int(name), event, moment),
    "recipe-set": lambda name, event, moment: evolve_recipe_set(None, int(name), event, moment),
    "system": lambda name, event, moment: evolve_system(None, name, event, moment),
}
