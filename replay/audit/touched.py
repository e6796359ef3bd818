"""Whom a commit may have changed: the invariants look at no others."""

from __future__ import annotations

from replay.audit.record import Commit
from replay.audit.tables import RECIPE_MOVES
from replay.audit.values import Recipe, System
from replay.audit.world import World

RECIPE_MOVED = frozenset(f"recipe.{state}" for state in RECIPE_MOVES)


class Touched:
    """`sets` are those of the recipes that moved, and of those on the systems that changed; `recipes` are all
    of these sets, finished ones too; `systems` also those that these are on, or were on when they finished.
    """

    def __init__(self, world: World, commit: Commit) -> None:
        numbers: set[int] = set()
        names: set[str] = set()
        for record in commit.records:
            if record.kind == "system":
                names.add(record.name)
                numbers.update(world.on.get(record.name, ()))
            elif record.topic in RECIPE_MOVED:
                numbers.add(int(record.name))
        found = (world.recipes.get(number) or world.finished.get(number) for number in numbers)
        self.sets = sorted({recipe.set_id for recipe in found if recipe is not None})
        self.recipes = [recipe for number in self.sets for recipe in _all_of(world, number)]
        names.update(recipe.system for recipe in self.recipes if recipe.system is not None)
        self.systems: list[System] = [world.systems[name] for name in sorted(names) if name in world.systems]


def _all_of(world: World, set_id: int) -> list[Recipe]:
    known = world.sets.get(set_id)
    numbers = () if known is None else known.recipe_ids
    found = (world.recipes.get(number) or world.finished.get(number) for number in numbers)
    return [recipe for recipe in found if recipe is not None]
