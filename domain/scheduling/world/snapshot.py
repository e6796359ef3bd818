"""What a partition knows, as plain values: put aside, and begun from instead of the whole log.

It is a convenience, never a truth: whoever does not trust it folds the log. Numbers of systems follow from
the order in which they stand here, which is that of registration. With them stands what was found of filters:
to find it anew takes longer than all the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import chain
from typing import Any, Final, TypeAlias, TypeVar

from domain.events import Batch
from domain.recipe.state import Recipe
from domain.recipe_set.state import RecipeSet
from domain.scheduling.demand.filters import Evaluated
from domain.scheduling.supply.filter_key import FilterKey
from domain.scheduling.supply.labs import Distro
from domain.scheduling.world.partition import Partition
from domain.scheduling.world.snapshot_columns import (
    Texts,
    Told,
    recipe_sets,
    recipes,
    systems,
    told,
    told_recipes,
    told_systems,
    with_texts,
)
from domain.scheduling.world.triggers import Trigger
from domain.system.state import System

Piece: TypeAlias = Mapping[str, Any]

T = TypeVar("T")

# So many states are milliseconds of work; bitmaps of a large lab are long.
PIECE_SIZE: Final = 200
BITMAPS_IN_A_PIECE: Final = 50

FILTER_TEXTS: Final = ("host_requires",)


def pieces(partition: Partition) -> Iterator[Piece]:
    """What the partition knows now, which is between commits, with nothing supposed.

    Values, lists and dataclasses of them, made piece by piece: states are never changed, only replaced, so
    the partition may go on meanwhile.
    """
    head = {
        "position": partition.position,
        "directory": partition.directory.plain(),
        "trees_away": partition.trees_away.plain(),
        "departed": partition.departed.plain(),
        "triggers": [trigger._asdict() for trigger in partition.triggers.waiting()],
        "batch": asdict(partition.triggers.batch),
        "newly_assigned": list(partition.sets.newly_assigned),
    }
    texts = Texts()
    filters = partition.filters
    made: Iterable[Piece] = chain(
        (told_systems(some, texts) for some in _some(partition.systems.values())),
        ({"recipe_sets": told(RecipeSet, some)} for some in _some(partition.sets.sets.values())),
        (told_recipes(some, texts) for some in _some(partition.sets.recipes.values())),
        (_told_filters(some, texts) for some in _some(filters.evaluated(), BITMAPS_IN_A_PIECE)),
        ({"signatures": list(map(_digits, some))} for some in _some(filters.signatures())),
    )
    return chain([head], ({**piece, "texts": texts.news()} for piece in made))


def _some(states: Iterable[T], size: int | None = None) -> Iterator[Sequence[T]]:
    """Those that there are now, in pieces."""
    held, step = list(states), size or PIECE_SIZE
    return (held[first : first + step] for first in range(0, len(held), step))


def _told_filters(found: Sequence[Evaluated], texts: Texts) -> Piece:
    keys = [each.key for each in found]
    columns: Told = {
        "host_requires": [key.host_requires for key in keys],
        "distro_tree_id": [key.distro_tree_id for key in keys],
        "own": [key.own and list(key.own) for key in keys],
        "guest_tree_ids": [key.guest_tree_ids for key in keys],
        "number": [each.number for each in found],
        "viable": [_digits(each.fitting) for each in found],
    }
    texts.replace(columns, FILTER_TEXTS)
    return {"filters": columns}


def restored(made: Iterable[Piece]) -> Partition:
    """The partition that `pieces` were made of; dataclasses may have become mappings, and times texts."""
    partition = Partition()
    rest = iter(made)
    head = next(rest, {})
    found = _Found()
    for piece in rest:
        found.take(piece)
    partition.directory.restore(head["directory"])
    partition.trees_away.restore(head["trees_away"])
    partition.departed.restore(head["departed"])
    partition.restore(int(head["position"]), found.systems)
    partition.filters.restore(found.evaluated, found.signatures)
    partition.sets.restore(found.recipe_sets, found.recipes, head["newly_assigned"])
    partition.triggers.restore(Batch(**head["batch"]))
    for trigger in head["triggers"]:
        partition.triggers.push(Trigger(**trigger))
    return partition


class _Found:
    """What the pieces have told so far."""

    def __init__(self) -> None:
        self.systems: list[System] = []
        self.recipe_sets: list[RecipeSet] = []
        self.recipes: list[Recipe] = []
        self.evaluated: list[Evaluated] = []
        self.signatures: list[int] = []
        self._texts: list[str] = []

    def take(self, piece: Piece) -> None:
        self._texts += piece["texts"]
        if "systems" in piece:
            self.systems += systems(piece["systems"], self._texts)
        elif "recipe_sets" in piece:
            self.recipe_sets += recipe_sets(piece["recipe_sets"])
        elif "recipes" in piece:
            self.recipes += recipes(piece["recipes"], piece["tasks"], self._texts)
        elif "filters" in piece:
            self.evaluated += _evaluated(piece["filters"], self._texts)
        else:
            self.signatures += map(_bitmap, piece["signatures"])


def _evaluated(columns: Told, texts: Sequence[str]) -> Iterator[Evaluated]:
    read = with_texts(columns, texts, FILTER_TEXTS)
    for text, tree, own, guests, number, viable in zip(*read.values(), strict=True):
        key = FilterKey(text, tree, own and Distro(*own), tuple(guests))
        yield Evaluated(key, number, _bitmap(viable))


def _digits(bitmap: int) -> str:
    return f"{bitmap:x}"


def _bitmap(digits: str) -> int:
    return int(digits, 16)
