"""The recipes, sets and systems that a commit may have changed. Invariants of commits check only these."""

from __future__ import annotations

from replay.audit.record import Commit
from replay.audit.tables import RECIPE_MOVES
from replay.audit.values import Recipe, System
from replay.audit.world import FoldedWorld

RECIPE_MOVED = frozenset(f"recipe.{state}" for state in RECIPE_MOVES)


class Affected:
    """The sets, recipes and systems that a commit may have changed.

    `sets` are those of moved recipes and of recipes on changed systems. `recipes` are all recipes of these
    sets, finished ones included. `systems` also includes the systems that these recipes are on, or were on
    when they finished.
    """

    def __init__(self, world: FoldedWorld, commit: Commit) -> None:
        numbers: set[int] = set()
        names: set[str] = set()
        for record in commit.records:
            if record.kind == "system":
                names.add(record.name)
                numbers.update(world.recipes_on.get(record.name, ()))
            elif record.topic in RECIPE_MOVED:
                numbers.add(int(record.name))
        recipes = (world.recipes.get(number) or world.finished.get(number) for number in numbers)
        self.sets = sorted({recipe.set_id for recipe in recipes if recipe is not None})
        self.recipes = [recipe for number in self.sets for recipe in _recipes_of(world, number)]
        names.update(recipe.system for recipe in self.recipes if recipe.system is not None)
        self.systems: list[System] = [world.systems[name] for name in sorted(names) if name in world.systems]


def _recipes_of(world: FoldedWorld, set_id: int) -> list[Recipe]:
    recipe_set = world.sets.get(set_id)
    numbers = () if recipe_set is None else recipe_set.recipe_ids
    recipes = (world.recipes.get(number) or world.finished.get(number) for number in numbers)
    return [recipe for recipe in recipes if recipe is not None]
