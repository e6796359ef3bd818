"""A check for recipes and systems that contradict each other, which only a bug in Labledger can cause."""

from __future__ import annotations

from domain.recipe.state import Recipe
from domain.scheduling.world.partition import Partition
from domain.system.lifecycle import MIRRORED, WITH_RECIPE
from domain.system.state import System


def out_of_step_count(partition: Partition) -> int:
    """Return the number of systems and placed recipes that are out of step; a pair may count twice."""
    placed = (partition.sets.recipes[recipe_id] for recipe_id in partition.sets.placed)
    systems = sum(not _is_system_in_step(partition, system) for system in partition.systems.values())
    return systems + sum(not _is_recipe_in_step(partition, recipe) for recipe in placed)


def _is_system_in_step(partition: Partition, system: System) -> bool:
    """Return whether the usage of a system agrees with its recipe, or with its reservation by a person."""
    if system.recipe_id is None:
        return system.usage not in WITH_RECIPE or system.reservation is not None
    recipe = partition.sets.recipes.get(system.recipe_id)
    if recipe is None or recipe.finished or recipe.system != system.fqdn:
        return False
    return system.usage == MIRRORED[recipe.state]


def _is_recipe_in_step(partition: Partition, recipe: Recipe) -> bool:
    """Return whether the system of a placed recipe names the recipe; True for guests, which have none."""
    if recipe.is_guest:
        return True
    return recipe.system is not None and partition.systems[recipe.system].recipe_id == recipe.recipe_id
