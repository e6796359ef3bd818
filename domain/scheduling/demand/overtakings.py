"""Counts of overtakings by recipe set (decision 27).

A set that was overtaken as often as the configuration allows is owed: its recipes rank as assigned ones that
weigh nothing. So they come before the assigned recipes of all later sets of no higher priority, and behind an
earlier assigned set as soon as that one weighs nothing, too.
"""

from __future__ import annotations

from collections.abc import Iterable


def is_owed_at(count: int, maximum: int | None) -> bool:
    return maximum is not None and count >= maximum


class Overtakings:
    """The counts of the unfinished sets that were overtaken. Mutable; with `maximum` None no set is owed.

    A count is kept until its set ends: a set that loses its systems again has waited before.
    """

    def __init__(self) -> None:
        self.maximum: int | None = None
        self._counts: dict[int, int] = {}

    def count(self, recipe_set_id: int) -> int:
        return self._counts.get(recipe_set_id, 0)

    def put(self, recipe_set_id: int, count: int) -> None:
        if count:
            self._counts[recipe_set_id] = count
        else:
            self._counts.pop(recipe_set_id, None)

    def is_owed(self, recipe_set_id: int) -> bool:
        # As `is_owed_at`: each change of a recipe asks this several times.
        maximum = self.maximum
        return maximum is not None and self._counts.get(recipe_set_id, 0) >= maximum

    def plain(self) -> list[tuple[int, int]]:
        """Return the sets with their counts, for a snapshot."""
        return sorted(self._counts.items())

    def restore(self, counts: Iterable[tuple[int, int]]) -> None:
        self._counts = dict(counts)
