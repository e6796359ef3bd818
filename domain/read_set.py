"""Read sets: the states on which a decision depends, that is recipes with their whole sets and systems."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from domain.events import Decided
from domain.recipe.state import Recipe
from domain.recipe_set.members import Members
from domain.recipe_set.state import RecipeSet
from domain.subjects import State, evolve_tentatively
from domain.system.state import System


@dataclass(frozen=True)
class ReadSet:
    """States by subject, at one log position. For each state, they include those of its `neighbours`."""

    states: Mapping[str, State]

    @cached_property
    def versions(self) -> dict[str, int]:
        return {subject: state.version for subject, state in self.states.items()}

    def recipe(self, recipe_id: int) -> Recipe | None:
        state = self.states.get(f"recipe/{recipe_id}")
        return state if isinstance(state, Recipe) else None

    def recipe_set(self, recipe_set_id: int) -> RecipeSet | None:
        state = self.states.get(f"recipe-set/{recipe_set_id}")
        return state if isinstance(state, RecipeSet) else None

    def system(self, fqdn: str) -> System | None:
        state = self.states.get(f"system/{fqdn}")
        return state if isinstance(state, System) else None

    def members(self, recipe_set_id: int) -> Members:
        recipe_set = self.recipe_set(recipe_set_id)
        assert recipe_set is not None, f"recipe set {recipe_set_id} is not in the read set"
        recipes = [self.recipe(recipe_id) for recipe_id in sorted(recipe_set.recipe_ids)]
        present = tuple(recipe for recipe in recipes if recipe is not None)
        systems = [self.system(fqdn) for fqdn in dict.fromkeys(map(_held, present)) if fqdn is not None]
        return Members(present, {system.fqdn: system for system in systems if system is not None})

    def after(self, decided: Decided) -> ReadSet:
        """Return the read set after tentative events of its subjects."""
        states = dict(self.states)
        for subject, event in decided:
            states[subject] = evolve_tentatively(subject, states[subject], event)
        return ReadSet(states)

    def members_on(self, system: System) -> Members | None:
        recipe = None if system.recipe_id is None else self.recipe(system.recipe_id)
        return None if recipe is None else self.members(recipe.recipe_set_id)


def members_after(members: Members, decided: Decided) -> Members:
    before: tuple[State, ...] = (*members.recipes, *members.systems.values())
    states = {state.subject: state for state in before}
    for subject, event in decided:
        states[subject] = evolve_tentatively(subject, states[subject], event)
    recipes = tuple(state for state in states.values() if isinstance(state, Recipe))
    systems = {state.fqdn: state for state in states.values() if isinstance(state, System)}
    return Members(recipes, systems)


def neighbours(state: State) -> list[str]:
    """Return the subjects that a read set must include if it includes this state."""
    if isinstance(state, RecipeSet):
        return [f"recipe/{recipe_id}" for recipe_id in state.recipe_ids]
    if isinstance(state, System):
        return [] if state.recipe_id is None else [f"recipe/{state.recipe_id}"]
    held = _held(state)
    return [f"recipe-set/{state.recipe_set_id}", *([] if held is None else [f"system/{held}"])]


def _held(recipe: Recipe) -> str | None:
    return None if recipe.finished else recipe.system
