"""Snapshots: the state of a partition as plain values, so that a scheduler need not fold the whole log.

A snapshot can always be computed again from the log. Systems are in the order of registration, from which
their numbers follow. A snapshot includes the systems that fit each filter, because evaluating the filters
again would take most of the time of a start.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import chain
from typing import Any, Final, TypeAlias, TypeVar

from domain.events import Batch
from domain.partition_numbers import DEFAULT_PARTITION, PartitionIdentity
from domain.recipe.state import Recipe
from domain.recipe_set.state import RecipeSet
from domain.scheduling.admitting.outcomes import PlainOutcomes
from domain.scheduling.demand.demand_counts import Evaluated
from domain.scheduling.supply.filter_key import FilterKey
from domain.scheduling.supply.labs import Distro
from domain.scheduling.world.lab_moves import follows_from_events
from domain.scheduling.world.partition import Partition
from domain.scheduling.world.snapshot_columns import (
    StateColumns,
    Texts,
    decode_recipe_sets,
    decode_recipes,
    decode_systems,
    decode_texts,
    encode_recipe_sets,
    encode_recipes,
    encode_systems,
)
from domain.scheduling.world.triggers import Trigger
from domain.system.state import System

Piece: TypeAlias = Mapping[str, Any]

T = TypeVar("T")

# The maximum number of states in a piece, so that a piece takes only milliseconds. A filter has a bitmap with
# a bit for each system.
PIECE_SIZE: Final = 200
FILTERS_IN_A_PIECE: Final = 20

FILTER_TEXTS: Final = ("host_requires",)


def pieces(partition: Partition) -> Iterator[Piece]:
    """Iterate over a snapshot: values, lists and dataclasses. No decision may be tentative."""
    head = {
        "position": partition.position,
        "directory": partition.directory.plain(),
        "trees_away": partition.absent_trees.plain(),
        "departed": partition.departed_names.plain(),
        "open_jobs": partition.sets.admission.open_jobs.plain(),
        "triggers": [trigger._asdict() for trigger in partition.triggers.waiting()],
        "batch": asdict(partition.triggers.batch),
        "newly_assigned": list(partition.sets.newly_assigned),
        "overtaken_for_locks": list(partition.locks.overtaken.items()),
        "overtaken": partition.sets.overtakings.plain(),
        "host_counts": partition.sets.plain_host_counts(),
        "preemptions": partition.sets.preemptions.plain(),
    }
    texts = Texts()
    filters = partition.filters
    encoded: Iterable[Piece] = chain(
        (encode_systems(some, texts) for some in _in_pieces(partition.systems.values())),
        ({"outcomes": outcomes} for outcomes in partition.sets.admission.outcomes.plain()),
        (encode_recipe_sets(some, texts) for some in _in_pieces(partition.sets.sets.values())),
        (encode_recipes(some, texts) for some in _in_pieces(partition.sets.recipes.values())),
        (_encode_filters(some, texts) for some in _in_pieces(filters.evaluated(), FILTERS_IN_A_PIECE)),
    )
    return chain([head], ({**piece, "texts": texts.new_texts()} for piece in encoded))


def _in_pieces(states: Iterable[T], size: int | None = None) -> Iterator[Sequence[T]]:
    """Yield the present items in lists of at most `size`, by default `PIECE_SIZE`."""
    held, step = list(states), size or PIECE_SIZE
    return (held[first : first + step] for first in range(0, len(held), step))


def _encode_filters(found: Sequence[Evaluated], texts: Texts) -> Piece:
    keys = [each.key for each in found]
    columns: StateColumns = {
        "host_requires": [key.host_requires for key in keys],
        "distro_tree_id": [key.distro_tree_id for key in keys],
        "own": [key.own and list(key.own) for key in keys],
        "guest_tree_ids": [key.guest_tree_ids for key in keys],
        "number": [each.number for each in found],
        "viable": [_to_hex(each.fitting) for each in found],
    }
    texts.replace(columns, FILTER_TEXTS)
    return {"filters": columns}


def restored(encoded: Iterable[Piece], identity: PartitionIdentity = DEFAULT_PARTITION) -> Partition:
    """Return the partition from the result of `pieces`, in which dataclasses are mappings and times texts."""
    partition = Partition(identity)
    rest = iter(encoded)
    head = next(rest, {})
    found = _Decoded()
    for piece in rest:
        found.take(piece)
    partition.directory.restore(head["directory"])
    partition.absent_trees.restore(head["trees_away"])
    partition.departed_names.restore(head["departed"])
    partition.sets.admission.open_jobs.restore(head["open_jobs"])
    partition.restore(int(head["position"]), found.systems)
    partition.filters.restore(found.evaluated)
    for outcomes in found.outcomes:
        partition.sets.admission.outcomes.restore(outcomes)
    partition.sets.restore(
        found.recipe_sets, found.recipes, head["newly_assigned"], head["overtaken"], head["host_counts"]
    )
    partition.sets.preemptions.restore(*head["preemptions"])
    for recipe_id in chain(partition.sets.placed, partition.sets.claims.of.values()):
        partition.conservation.put_recipe(None, partition.sets.recipes[recipe_id])
    partition.locks.restore(dict(head["overtaken_for_locks"]))
    partition.triggers.restore(Batch(**head["batch"]))
    for trigger in head["triggers"]:
        partition.triggers.push(Trigger(**trigger))
    return partition


def restored_systems(encoded: Iterable[Piece]) -> Iterator[System]:
    """Yield the systems whose states follow from their events alone, from the pieces after the first one."""
    texts: list[str] = []
    for piece in encoded:
        texts += piece["texts"]
        if "systems" not in piece:
            return
        yield from filter(follows_from_events, decode_systems(piece["systems"], texts))


class _Decoded:
    """The values decoded from the pieces so far. Mutable."""

    def __init__(self) -> None:
        self.systems: list[System] = []
        self.outcomes: list[PlainOutcomes] = []
        self.recipe_sets: list[RecipeSet] = []
        self.recipes: list[Recipe] = []
        self.evaluated: list[Evaluated] = []
        self._texts: list[str] = []

    def take(self, piece: Piece) -> None:
        self._texts += piece["texts"]
        if "systems" in piece:
            self.systems += decode_systems(piece["systems"], self._texts)
        elif "outcomes" in piece:
            self.outcomes.append(piece["outcomes"])
        elif "recipe_sets" in piece:
            self.recipe_sets += decode_recipe_sets(piece["recipe_sets"], piece["facts"], self._texts)
        elif "recipes" in piece:
            self.recipes += decode_recipes(piece["recipes"], piece["tasks"], self._texts)
        else:
            self.evaluated += _decode_filters(piece["filters"], self._texts)


def _decode_filters(columns: StateColumns, texts: Sequence[str]) -> Iterator[Evaluated]:
    read = decode_texts(columns, texts, FILTER_TEXTS)
    for text, tree, own, guests, number, viable in zip(*read.values(), strict=True):
        key = FilterKey(text, tree, own and Distro(*own), tuple(guests))
        yield Evaluated(key, number, _from_hex(viable))


def _to_hex(bitmap: int) -> str:
    return f"{bitmap:x}"


def _from_hex(digits: str) -> int:
    return int(digits, 16)
