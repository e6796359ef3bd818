"""The recipes, sets and systems that a commit may have changed. Invariants of commits check only these."""

from __future__ import annotations

from replay.audit.record import Commit
from replay.audit.tables import RECIPE_MOVES
from replay.audit.values import Recipe, System
from replay.audit.world import FoldedWorld

RECIPE_MOVED = frozenset(f"recipe.{state}" for state in RECIPE_MOVES)


class Affected:
    """The sets, recipes and systems that a commit may have changed.

    `sets` are those of recipes that changed state and of recipes on changed systems. `recipes` are all
    recipes of these sets, finished ones included. `systems` also includes the systems that these recipes are
    on, or were on when they finished.
    """

    def __init__(self, world: FoldedWorld, commit: Commit) -> None:
        recipe_ids: set[int] = set()
        fqdns: set[str] = set()
        for record in commit.records:
            if record.kind == "system":
                fqdns.add(record.name)
                recipe_ids.update(world.recipes_on.get(record.name, ()))
            elif record.topic in RECIPE_MOVED:
                recipe_ids.add(int(record.name))
        recipes = (world.recipes.get(recipe_id) or world.finished.get(recipe_id) for recipe_id in recipe_ids)
        self.sets = sorted({recipe.set_id for recipe in recipes if recipe is not None})
        self.recipes = [recipe for number in self.sets for recipe in _recipes_of(world, number)]
        fqdns.update(recipe.system for recipe in self.recipes if recipe.system is not None)
        self.systems: list[System] = [world.systems[name] for name in sorted(fqdns) if name in world.systems]


def _recipes_of(world: FoldedWorld, set_id: int) -> list[Recipe]:
    recipe_set = world.sets.get(set_id)
    recipe_ids = () if recipe_set is None else recipe_set.recipe_ids
    recipes = (world.recipes.get(recipe_id) or world.finished.get(recipe_id) for recipe_id in recipe_ids)
    return [recipe for recipe in recipes if recipe is not None]
