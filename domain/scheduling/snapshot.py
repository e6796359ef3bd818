"""What a partition knows, as plain values: put aside, and begun from instead of the whole log.

It is a convenience, never a truth: whoever does not trust it folds the log. Numbers of systems follow from
the order in which they stand here, which is that of registration.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from operator import attrgetter
from typing import Any, Final

from domain.priority import Priority
from domain.recipe.state import Recipe, Task
from domain.recipe_set.state import RecipeSet
from domain.scheduling.partition import Partition
from domain.scheduling.triggers import Trigger
from domain.system.state import Reservation, System
from domain.values import changed

RECIPE_FIELDS: Final = tuple(field.name for field in fields(Recipe))
_row = attrgetter(*RECIPE_FIELDS)


def plain(partition: Partition) -> dict[str, Any]:
    """Values, lists and dataclasses of them; only between commits, with nothing supposed."""
    recipes = partition.sets.recipes.values()
    # Many thousands of recipes have a few thousand requirements: these would be most of it.
    texts = dict.fromkeys(recipe.host_requires for recipe in recipes)
    places = {text: place for place, text in enumerate(texts)}
    return {
        "position": partition.position,
        "directory": partition.directory.plain(),
        "systems": list(partition.systems.values()),
        "recipe_sets": list(partition.sets.sets.values()),
        "host_requires": list(texts),
        "recipes": [_row(changed(each, host_requires=places[each.host_requires])) for each in recipes],
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
        recipes=(_recipe(row, values["host_requires"]) for row in values["recipes"]),
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
    read = {"priority": Priority(values["priority"]), "recipe_ids": tuple(values["recipe_ids"])}
    return RecipeSet(**{**values, **read})


def _recipe(row: Sequence[Any], texts: Sequence[str]) -> Recipe:
    values = dict(zip(RECIPE_FIELDS, row, strict=True))
    read = {
        "host_requires": texts[values["host_requires"]],
        "tasks": tuple(map(_task, values["tasks"])),
        "autopick_pools": tuple(values["autopick_pools"]),
        "deadline": _moment(values["deadline"]),
    }
    return Recipe(**{**values, **read})


def _task(values: Mapping[str, Any]) -> Task:
    results = tuple((*result[:3], tuple(result[3])) for result in values["results"])
    return Task(**{**values, "results": results})


def _moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)
