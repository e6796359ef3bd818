"""The state for the checks: plain dictionaries, updated by the events of a decision.

This module does not use `domain.scheduling`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from domain.events import Event, split_subject
from domain.recipe.state import Recipe
from domain.system.state import System
from tests.model_check.actions import tree_labs
from tests.model_check.case import BIG_MB, POOL, SUBMITTER, RecipeWant
from tests.model_check.model import ModelWorld

URGENCY = ("Urgent", "High", "Normal", "Medium", "Low")
FINISHED = ("completed", "cancelled", "aborted")
UNPLACED = ("new", "queued", "assigned")


@dataclass
class View:
    """The state; `viable` and `usable` are the systems of each recipe, `rank` its place in a line, low first.

    `highest` is the index in `URGENCY` of the maximum effective priority of a recipe on a system.
    """

    lab: Mapping[str, str]
    viable: Mapping[int, frozenset[str]]
    usable: Mapping[int, frozenset[str]]
    rank: Mapping[int, tuple[int, int, int]]
    highest: Mapping[tuple[int, str], int]
    set_of: Mapping[int, int]
    sets: Mapping[int, tuple[int, ...]]
    state: dict[int, str]
    on: dict[int, str | None]
    bound: dict[int, str | None]
    usage: dict[str, str]

    def apply(self, subject: str, event: Event) -> None:
        kind, name = split_subject(subject)
        if kind == "system":
            self.usage[name] = event.TOPIC.removeprefix("system.")
        elif kind == "recipe":
            self._recipe(int(name), event)

    def _recipe(self, number: int, event: Event) -> None:
        state = self.state[number] = event.TOPIC.removeprefix("recipe.")
        if state in ("scheduled", "assigned", "queued", *FINISHED):
            self.on[number] = getattr(event, "system", None)
            self.bound[number] = getattr(event, "lab_controller", None)

    def wanting(self, set_id: int) -> list[int]:
        """Return the recipes of a set that have no system."""
        return [number for number in self.sets[set_id] if self.state[number] in UNPLACED]

    def holding(self, set_id: int) -> list[int]:
        return [number for number in self.sets[set_id] if self.state[number] == "scheduled"]

    def held(self, set_id: int) -> frozenset[str]:
        return frozenset(system for number in self.holding(set_id) if (system := self.on[number]))

    def lab_of(self, set_id: int) -> str | None:
        return next((lab for number in self.sets[set_id] if (lab := self.bound[number])), None)


def view_of(world: ModelWorld) -> View:
    """Return the view of the present log."""
    there = {number: each for number, each in world.recipes.items() if each.state not in FINISHED}
    sets: dict[int, tuple[int, ...]] = {}
    for number, recipe in there.items():
        sets[recipe.recipe_set_id] = (*sets.get(recipe.recipe_set_id, ()), number)
    trees = tree_labs(world)
    highest = {
        (number, name): place
        for number, recipe in there.items()
        for name in world.wants[number].names
        if name in world.systems and (place := _highest(world, recipe, name)) is not None
    }
    viable = {
        number: frozenset(
            name for name in _viable(world, world.wants[number], trees) if (number, name) in highest
        )
        for number in there
    }
    return View(
        lab={name: system.lab_controller for name, system in world.systems.items()},
        viable=viable,
        usable={
            number: frozenset(
                name
                for name in names
                if _may_have(world, world.systems[name], world.wants[number].force)
                and world.borrowers.get(name, SUBMITTER) == SUBMITTER
            )
            for number, names in viable.items()
        },
        highest=highest,
        rank={number: _rank(world, each.recipe_set_id, number) for number, each in there.items()},
        set_of={number: each.recipe_set_id for number, each in there.items()},
        sets=sets,
        state={number: each.state for number, each in there.items()},
        on={number: each.system for number, each in there.items()},
        bound={number: each.lab_controller for number, each in there.items()},
        usage={name: system.usage for name, system in world.systems.items()},
    )


def _viable(world: ModelWorld, want: RecipeWant, trees: list[str]) -> frozenset[str]:
    return frozenset(
        name
        for name in want.names
        if (system := world.systems.get(name)) is not None
        and system.condition != "Removed"
        and system.lab_controller in trees
        and (want.needs != "big" or system.inventory["memory_mb"] >= BIG_MB)
        and (want.needs != "pool" or world.directory.pool_has(POOL, name))
    )


def _highest(world: ModelWorld, recipe: Recipe, name: str) -> int | None:
    """Return the index of the maximum effective priority; None if submission is not allowed there."""
    entries = world.entries.get(name, ({"everybody": True, "maximum_effective_priority": "Urgent"},))
    if world.directory.pool_has(POOL, name):
        entries = world.entries.get(POOL) or entries
    group = recipe.group if world.is_in_group else None
    places = [
        URGENCY.index(entry["maximum_effective_priority"])
        for entry in entries
        if entry.get("everybody") or entry["group"] == group
    ]
    if not places and SUBMITTER in (world.systems[name].owner, world.borrowers.get(name)):
        return 0
    return min(places, default=None)


def _may_have(world: ModelWorld, system: System, force: bool) -> bool:
    if system.draining or system.reservation is not None:
        return False
    return (force or system.condition == "Automated") and _serves(world, system.lab_controller)


def _serves(world: ModelWorld, lab: str) -> bool:
    return world.directory.is_enabled(lab) and not world.directory.is_silent(lab)


def _rank(world: ModelWorld, set_id: int, number: int) -> tuple[int, int, int]:
    recipe_set = world.sets[set_id]
    return URGENCY.index(recipe_set.priority.name), recipe_set.submission, number
