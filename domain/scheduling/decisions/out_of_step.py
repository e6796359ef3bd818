"""Recipes and systems that disagree about who is on whom: that never happens, and so it is looked for."""

from __future__ import annotations

from domain.recipe.state import Recipe
from domain.scheduling.world.partition import Partition
from domain.system.lifecycle import MIRRORED, WITH_RECIPE
from domain.system.state import System


def out_of_step(partition: Partition) -> int:
    """How many there are. Goes through all systems, and through the recipes that have one."""
    placed = (partition.sets.recipes[recipe_id] for recipe_id in partition.sets.placed)
    systems = sum(not _system_in_step(partition, system) for system in partition.systems.values())
    return systems + sum(not _recipe_in_step(partition, recipe) for recipe in placed)


def _system_in_step(partition: Partition, system: System) -> bool:
    """Whether it does what its recipe, or the person who has reserved it, lets it do."""
    if system.recipe_id is None:
        return system.usage not in WITH_RECIPE or system.reservation is not None
    recipe = partition.sets.recipes.get(system.recipe_id)
    if recipe is None or recipe.finished or recipe.system != system.fqdn:
        return False
    return system.usage == MIRRORED[recipe.state]


def _recipe_in_step(partition: Partition, recipe: Recipe) -> bool:
    """Whether its system is for it; that of a guest is its host's."""
    if recipe.is_guest:
        return True
    return recipe.system is not None and partition.systems[recipe.system].recipe_id == recipe.recipe_id
