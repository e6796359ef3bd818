"""Whom a commit may have changed: the invariants look at no others."""

from __future__ import annotations

from collections.abc import Iterator

from tests.checker.record import Commit
from tests.checker.values import Recipe, System
from tests.checker.world import World


def sets(world: World, commit: Commit) -> list[int]:
    """Those of the recipes in the commit, and of those on its systems."""
    numbers = {int(record.name) for record in commit.records if record.kind == "recipe"}
    for record in commit.records:
        if record.kind == "system":
            numbers.update(world.on.get(record.name, ()))
    return sorted({recipe.set_id for number in numbers for recipe in _known(world, number)})


def recipes(world: World, commit: Commit) -> list[Recipe]:
    """All of these sets, finished ones too."""
    members = (world.sets[number].recipe_ids for number in sets(world, commit) if number in world.sets)
    return [recipe for named in members for number in named for recipe in _known(world, number)]


def _known(world: World, number: int) -> list[Recipe]:
    recipe = world.recipes.get(number) or world.finished.get(number)
    return [] if recipe is None else [recipe]


def systems(world: World, commit: Commit) -> Iterator[System]:
    """Those of the commit and those these recipes are on, or were on when they finished."""
    names = {record.name for record in commit.records if record.kind == "system"}
    names |= {recipe.system for recipe in recipes(world, commit) if recipe.system is not None}
    return (world.systems[name] for name in sorted(names) if name in world.systems)
