"""The number of waiting recipes, from which each wait takes the number of recipes ahead of it."""

from __future__ import annotations

from collections import Counter
from operator import itemgetter
from typing import Any, Final

from psycopg import Cursor

from domain.priority import Priority
from postgres.binary_copy import Row
from projections.rows import WaitRow
from projections.sql import SQL

_HIGHEST: Final = int(max(Priority))


class WaitingCounts:
    """The open rows of `waits` by partition, architecture and priority. Mutable.

    With `tables_are_empty`, all rows come from this process. Otherwise they are counted once, by `load`.
    """

    def __init__(self, *, tables_are_empty: bool) -> None:
        self._is_loaded = tables_are_empty
        self._counts = Counter[tuple[int, str, int]]()
        self._place = itemgetter(*map(WaitRow._fields.index, ("partition", "arch", "priority")))

    def load(self, cursor: Cursor[Any]) -> None:
        """Count the stored rows, before the first page of events."""
        if not self._is_loaded:
            self._is_loaded = True
            for partition, arch, priority, count in cursor.execute(SQL["waiting_counts"]).fetchall():
                self._counts[partition, arch, priority] = count

    def replace(self, key: Row, before: Row | None, after: Row | None) -> None:
        """Count the replacement of the open row of a recipe by another one. None stands for no row."""
        if before is not None:
            self._counts[self._place(before)] -= 1
        if after is not None:
            self._counts[self._place(after)] += 1

    def ahead(self, partition: int, arch: str, priority: int) -> int:
        """Return the number of recipes with this architecture and at least this priority."""
        counts = self._counts
        return sum([counts[partition, arch, each] for each in range(priority, _HIGHEST + 1)])
