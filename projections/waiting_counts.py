"""The number of waiting recipes, from which each wait takes the number of recipes ahead of it."""

from __future__ import annotations

from collections import Counter
from typing import Any

from psycopg import Cursor

from domain.priority import Priority
from postgres.binary_copy import Row
from projections.rows import WaitRow
from projections.sql import SQL


class WaitingCounts:
    """The open rows of `waits` by partition, architecture and priority. Mutable.

    With `tables_are_empty`, all rows come from this process. Otherwise they are counted once, by `load`.
    """

    def __init__(self, *, tables_are_empty: bool) -> None:
        self._is_loaded = tables_are_empty
        self._counts = Counter[tuple[int, str, int]]()
        # The columns after the key, which is a recipe.
        self._places = [WaitRow._fields.index(name) + 1 for name in ("partition", "arch", "priority")]

    def load(self, cursor: Cursor[Any]) -> None:
        """Count the stored rows, before the first page of events."""
        if not self._is_loaded:
            self._is_loaded = True
            for partition, arch, priority, count in cursor.execute(SQL["waiting_counts"]).fetchall():
                self._counts[partition, arch, priority] = count

    def replace(self, key: Row, before: Row | None, after: Row | None) -> None:
        """Count the replacement of the open row of a recipe by another one. None stands for no row."""
        for row, amount in ((before, -1), (after, 1)):
            if row is not None:
                partition, arch, priority = ((*key, *row)[place] for place in self._places)
                self._counts[partition, arch, priority] += amount

    def ahead(self, partition: int, arch: str, priority: int) -> int:
        """Return the number of recipes with this architecture and at least this priority."""
        return sum(self._counts[partition, arch, each] for each in range(priority, max(Priority) + 1))
