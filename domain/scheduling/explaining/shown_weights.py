"""The weights of recipes and sets as people see them, at the moment of `Partition.weigh_at`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from domain.contention.cells import BEST, Cell, cell
from domain.contention.locks import LEVELS, LevelLock
from domain.contention.weights import (
    NO_CONTENTION,
    Cells,
    WeightSettings,
    aged_weight,
    counted_levels,
    shown_cells,
    shown_thousandths,
    shown_weight,
    static_weight,
)
from domain.recipe.lifecycle import UNPLACED
from domain.recipe.state import Recipe
from domain.scheduling.demand.lines import QUEUED
from domain.scheduling.demand.weighing import Profile
from domain.scheduling.world.partition import Partition


@dataclass(frozen=True)
class SetWeight:
    """The weight of a set; by level, the value of its worst cell, and the first placed recipe that causes it.

    The recipe is None at a level without contention, and for a set that declares the whole-lab lock, which
    has the worst cells whatever is placed.
    """

    weight: float
    static_weight: float
    ticks: int
    cells: dict[str, float]
    worst_recipes: dict[str, int | None]


def weight_of(partition: Partition, host: Recipe) -> float | None:
    """Return the weight of an unplaced recipe; a new one counts as queued. None if weights are off."""
    weighing = partition.filters.weighing
    if not weighing.settings.is_enabled:
        return None
    if partition.sets.overtakings.is_owed(host.recipe_set_id):
        return 0.0
    weight = weighing.predicted(_profile(partition, host), host.recipe_id)
    return shown_weight(weight, weighing.settings.coefficient)


def weight_of_set(partition: Partition, recipe_set_id: int) -> SetWeight | None:
    """Return the weight of a set; None if it has no unplaced recipe, or if weights are off."""
    host = next((host for host in partition.sets.hosts(recipe_set_id) if host.state in UNPLACED), None)
    if host is None or not partition.filters.weighing.settings.is_enabled:
        return None
    weighing, profile = partition.filters.weighing, _profile(partition, host)
    cells, age = weighing.cells(profile), weighing.age(host.recipe_id)
    if profile.locks.whole_lab:
        return _set_weight(weighing.settings, cells, age)
    levels = enumerate(zip(profile.locks.levels, cells, strict=True))
    recipes = (_first_with(partition, recipe_set_id, level, *worst) for level, worst in levels)
    return _set_weight(weighing.settings, cells, age, recipes)


def weight_without_locks(settings: WeightSettings, age: int) -> SetWeight:
    """Return the weight of a set that declares no locks, which does not depend on placed recipes."""
    return _set_weight(settings, NO_CONTENTION, age)


def _set_weight(
    settings: WeightSettings, cells: Cells, age: int, recipes: Iterable[int | None] = (None,) * len(LEVELS)
) -> SetWeight:
    static = static_weight(cells, settings)
    return SetWeight(
        shown_weight(aged_weight(static, age, settings.coefficient), settings.coefficient),
        shown_thousandths(static),
        age,
        shown_cells(cells, settings),
        dict(zip(LEVELS, recipes, strict=True)),
    )


def _profile(partition: Partition, host: Recipe) -> Profile:
    return partition.sets.declared_profile(host, partition.sets.places.line_of(host) or QUEUED)


def _first_with(
    partition: Partition, recipe_set_id: int, level: int, lock: LevelLock, worst: Cell
) -> int | None:
    """Return the lowest id of a placed recipe of another set with the worst cell; None for the best cell."""
    if worst == BEST:
        return None
    return min(
        recipe_id
        for recipe_id, held in _held_by_others(partition, recipe_set_id, level)
        if cell(lock, held) == worst
    )


def _held_by_others(partition: Partition, recipe_set_id: int, level: int) -> Iterator[tuple[int, LevelLock]]:
    for recipe_id, placed in partition.filters.weighing.placed():
        if placed.recipe_set_id != recipe_set_id:
            yield recipe_id, counted_levels(placed.locks)[level]
