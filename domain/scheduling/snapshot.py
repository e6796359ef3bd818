"""What a partition knows, as plain values: put aside, and begun from instead of the whole log.

It is a convenience, never a truth: whoever does not trust it folds the log. Numbers of systems follow from
the order in which they stand here, which is that of registration.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from itertools import chain, islice
from operator import attrgetter
from typing import Any, Final, TypeAlias

from domain.priority import Priority
from domain.recipe.state import Recipe, Task
from domain.recipe_set.state import RecipeSet
from domain.scheduling.partition import Partition
from domain.scheduling.triggers import Trigger
from domain.system.state import Reservation, System
from domain.values import changed

Piece: TypeAlias = Mapping[str, Any]

# So many states are milliseconds of work.
PIECE_SIZE: Final = 200

RECIPE_FIELDS: Final = tuple(field.name for field in fields(Recipe))
_row = attrgetter(*RECIPE_FIELDS)


def pieces(partition: Partition) -> Iterator[Piece]:
    """What the partition knows now, which is between commits, with nothing supposed.

    Values, lists and dataclasses of them, made piece by piece: states are never changed, only replaced, so
    the partition may go on meanwhile.
    """
    head = {
        "position": partition.position,
        "directory": partition.directory.plain(),
        "triggers": [trigger._asdict() for trigger in partition.triggers.waiting()],
    }
    return chain(
        [head],
        _pieces("systems", list(partition.systems.values())),
        _pieces("recipe_sets", list(partition.sets.sets.values())),
        _recipe_pieces(list(partition.sets.recipes.values())),
    )


def _pieces(what: str, states: Sequence[Any]) -> Iterator[Piece]:
    return ({what: states[first : first + PIECE_SIZE]} for first in range(0, len(states), PIECE_SIZE))


def _recipe_pieces(recipes: Sequence[Recipe]) -> Iterator[Piece]:
    """Many thousands of recipes have a few thousand requirements, which would be most of it: each once.

    A recipe has the place of its own in `host_requires` of all pieces, put together.
    """
    places: dict[str, int] = {}
    for piece in _pieces("recipes", recipes):
        known = len(places)
        rows = [
            _row(changed(each, host_requires=places.setdefault(each.host_requires, len(places))))
            for each in piece["recipes"]
        ]
        yield {"host_requires": list(islice(places, known, None)), "recipes": rows}


def restored(made: Iterable[Piece]) -> Partition:
    """The partition that `pieces` were made of; dataclasses may have become mappings, and times texts."""
    partition = Partition()
    rest = iter(made)
    head = next(rest, {})
    states = _put_together(rest)
    partition.directory.restore(head["directory"])
    partition.restore(
        position=int(head["position"]),
        systems=map(_system, states["systems"]),
        recipe_sets=map(_recipe_set, states["recipe_sets"]),
        recipes=(_recipe(row, states["host_requires"]) for row in states["recipes"]),
    )
    for trigger in head["triggers"]:
        partition.triggers.push(Trigger(**trigger))
    return partition


def _put_together(made: Iterable[Piece]) -> Mapping[str, list[Any]]:
    states: dict[str, list[Any]] = {"systems": [], "recipe_sets": [], "host_requires": [], "recipes": []}
    for piece in made:
        for what, values in piece.items():
            states[what].extend(values)
    return states


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
