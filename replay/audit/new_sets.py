"""New recipe sets in rank order."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator

from replay.audit.tables import URGENCY
from replay.audit.values import RecipeSet

Rank = tuple[int, ...]
"""Nominal priority (the most urgent is 0), submission, number of the set."""


def rank_of(recipe_set: RecipeSet) -> Rank:
    return URGENCY[recipe_set.priority], recipe_set.submission, recipe_set.set_id


class NewSets:
    """The new recipe sets, sorted by rank. Mutable."""

    def __init__(self) -> None:
        self._ranks: dict[int, Rank] = {}
        self._sorted: list[Rank] = []

    def add(self, recipe_set: RecipeSet | None) -> None:
        if recipe_set is not None and recipe_set.set_id not in self._ranks:
            rank = self._ranks[recipe_set.set_id] = rank_of(recipe_set)
            insort(self._sorted, rank)

    def discard(self, set_id: int) -> None:
        rank = self._ranks.pop(set_id, None)
        if rank is not None:
            del self._sorted[bisect_left(self._sorted, rank)]

    def rank(self, recipe_set: RecipeSet | None) -> None:
        """Recompute the rank of a new set after a change of its priority."""
        if recipe_set is not None and recipe_set.set_id in self._ranks:
            self.discard(recipe_set.set_id)
            self.add(recipe_set)

    def before(self, recipe_set: RecipeSet, effective: int, upto: int) -> Iterator[int]:
        """Yield sets submitted up to `upto` that may rank ahead, as effective priority is at most nominal."""
        end = bisect_left(self._sorted, max(rank_of(recipe_set), (effective,)))
        return (number for _, submission, number in self._sorted[:end] if submission <= upto)
