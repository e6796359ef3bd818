"""The recipes of a job before its submission: their questions, their locations, and those for estimates."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from api.rest.estimates import NewRecipe
from api.use_cases.place_job import Placement
from domain.estimates.kinds import own_arch_of, wait_properties
from domain.job.spec import JobSpec, RecipeSpec


def recipe_sets(spec: JobSpec, owner: str, placement: Placement) -> list[list[dict[str, Any]]]:
    """Return the recipes of each set as the explaining process of a partition reads them."""
    trees = iter(placement.trees[0])
    return [
        [_recipe(recipe, owner, spec.group, trees) for recipe in recipe_set.recipes]
        for recipe_set in spec.recipe_sets
    ]


def _recipe(recipe: RecipeSpec, owner: str, group: str | None, trees: Iterator[int | None]) -> dict[str, Any]:
    return {
        "owner": owner,
        "group": group,
        "host_requires": recipe.host_requires,
        "distro_requires": recipe.distro_requires,
        "distro": recipe.distro,
        "distro_tree_id": next(trees),
        "guests": [_recipe(guest, owner, group, trees) for guest in recipe.guests],
    }


def locations(spec: JobSpec, *, is_xml: bool) -> Iterator[str]:
    """Yield the location of each recipe but guests, as faults of the job name it."""
    for set_number, recipe_set in enumerate(spec.recipe_sets):
        for number in range(len(recipe_set.recipes)):
            in_json = f"recipe_sets[{set_number}].recipes[{number}]"
            yield f"recipeSet[{set_number + 1}]/recipe[{number + 1}]" if is_xml else in_json


def compared(spec: JobSpec, placement: Placement) -> Iterator[NewRecipe]:
    """Yield for each recipe but guests, which need no system of their own, the recipe for its estimate."""
    for recipe_set in spec.recipe_sets:
        for recipe in recipe_set.recipes:
            properties = wait_properties(
                recipe.host_requires, recipe.distro_requires, own_arch_of(recipe.distro)
            )
            yield NewRecipe(placement.partition.number, recipe_set.priority, properties)
