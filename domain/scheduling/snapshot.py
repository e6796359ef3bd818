"""What a partition knows, as plain values: put aside, and begun from instead of the whole log.

It is a convenience, never a truth: whoever does not trust it folds the log. Numbers of systems follow from
the order in which they stand here, which is that of registration.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from domain.priority import Priority
from domain.recipe.state import Recipe, Task
from domain.recipe_set.state import RecipeSet
from domain.scheduling.partition import Partition
from domain.scheduling.triggers import Trigger
from domain.system.state import Reservation, System


def plain(partition: Partition) -> dict[str, Any]:
    """Values, lists and dataclasses of them; only between commits, with nothing supposed."""
    return {
        "position": partition.position,
        "directory": partition.directory.plain(),
        "systems": list(partition.systems.values()),
        "recipe_sets": list(partition.sets.sets.values()),
        "recipes": list(partition.sets.recipes.values()),
        "triggers": [trigger._asdict() for trigger in partition.triggers.waiting()],
    }


def restored(values: Mapping[str, Any]) -> Partition:
    """The partition that `plain` was taken of; dataclasses may have become mappings, and times texts."""
    partition = Partition()
    partition.directory.restore(values["directory"])
    partition.restore(
        position=int(values["position"]),
        systems=map(_system, values["systems"]),
        recipe_sets=map(_recipe_set, values["recipe_sets"]),
        recipes=map(_recipe, values["recipes"]),
    )
    for trigger in values["triggers"]:
        partition.triggers.push(Trigger(**trigger))
    return partition


def _system(values: Mapping[str, Any]) -> System:
    held = values["reservation"]
    reservation = None
    if held is not None:
        reservation = Reservation(**{**held, "until": _moment(held["until"])})
    return System(**{**values, "reservation": reservation})


def _recipe_set(values: Mapping[str, Any]) -> RecipeSet:
    changed = {"priority": Priority(values["priority"]), "recipe_ids": tuple(values["recipe_ids"])}
    return RecipeSet(**{**values, **changed})


def _recipe(values: Mapping[str, Any]) -> Recipe:
    changed = {
        "tasks": tuple(map(_task, values["tasks"])),
        "autopick_pools": tuple(values["autopick_pools"]),
        "deadline": _moment(values["deadline"]),
    }
    return Recipe(**{**values, **changed})


def _task(values: Mapping[str, Any]) -> Task:
    results = tuple((*result[:3], tuple(result[3])) for result in values["results"])
    return Task(**{**values, "results": results})


def _moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)
