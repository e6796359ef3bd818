"""The check for systems and recipes out of step, which compares only what changed since the last check."""

from __future__ import annotations

from collections.abc import Container, Mapping

from domain.recipe.lifecycle import PLACED
from domain.recipe.state import Recipe
from domain.system.lifecycle import MIRRORED, WITH_RECIPE
from domain.system.state import System


class OutOfStepCheck:
    """The systems and placed recipes that changed since the last check, or were out of step then. Mutable.

    The partition reports every change to `put_system` or `put_recipe`, so that a check need not compare all
    other systems and recipes again. `placed` has the placed recipes.
    """

    def __init__(self, placed: Container[int]) -> None:
        self._placed = placed
        self._systems: dict[str, None] = {}
        self._recipes: dict[int, None] = {}

    def put_system(self, before: System | None, system: System) -> None:
        self._systems[system.fqdn] = None
        recipe_id = None if before is None else before.recipe_id
        if recipe_id is not None and recipe_id in self._placed:
            self._recipes[recipe_id] = None

    def put_recipe(self, before: Recipe | None, recipe: Recipe) -> None:
        for state in (before, recipe):
            if state is not None and state.system is not None:
                self._systems[state.system] = None
        if recipe.state in PLACED:
            self._recipes[recipe.recipe_id] = None
        else:
            self._recipes.pop(recipe.recipe_id, None)

    def count(self, systems: Mapping[str, System], recipes: Mapping[int, Recipe]) -> int:
        """Return the number of systems and placed recipes out of step; a pair may count twice."""
        wrong = (fqdn for fqdn in self._systems if not _is_system_in_step(systems[fqdn], recipes))
        self._systems = dict.fromkeys(wrong)
        astray = (each for each in self._recipes if not _is_recipe_in_step(recipes[each], systems))
        self._recipes = dict.fromkeys(astray)
        return len(self._systems) + len(self._recipes)


def _is_system_in_step(system: System, recipes: Mapping[int, Recipe]) -> bool:
    """Return whether the usage of a system agrees with its recipe, or with its reservation by a person."""
    if system.recipe_id is None:
        return system.usage not in WITH_RECIPE or system.reservation is not None
    recipe = recipes.get(system.recipe_id)
    if recipe is None or recipe.finished or recipe.system != system.fqdn:
        return False
    return system.usage == MIRRORED[recipe.state]


def _is_recipe_in_step(recipe: Recipe, systems: Mapping[str, System]) -> bool:
    """Return whether the system of a placed recipe names it. True for guests: a system names their host."""
    if recipe.is_guest:
        return True
    return recipe.system is not None and systems[recipe.system].recipe_id == recipe.recipe_id
