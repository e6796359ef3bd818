"""Tables that count the open rows of a table of intervals, by some of its columns.

The changes of a page of events are added with one statement, in the transaction that writes the rows. So a
read needs no `count(*)`, and both tables are consistent.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, NamedTuple

from psycopg import Cursor

from postgres.binary_copy import CopyData, CopyEncoder, Row, arrays
from projections.rows import types_of


@dataclass(frozen=True)
class CountedTable:
    """A table with the number of open rows of the table `counts_rows_of`, grouped by its `columns`."""

    table: str
    counts_rows_of: str
    columns: tuple[str, ...]


RECIPE_COUNTS = CountedTable("recipe_counts", "recipes", ("state",))
SYSTEM_COUNTS = CountedTable("system_counts", "system_usage", ("condition", "usage", "unavailable"))
LOCK_COUNTS = CountedTable("lock_counts", "locks", ("level", "state"))
COUNTED = (RECIPE_COUNTS, SYSTEM_COUNTS, LOCK_COUNTS)


class OpenRowCounts:
    """The changes of a page to one of `COUNTED`. Mutable. A row of count 0 stays, wherever pages end."""

    def __init__(self, counted: CountedTable, keys: dict[str, str], row: type[NamedTuple]) -> None:
        types = {**keys, **types_of(row)}
        columns = {name: types[name] for name in counted.columns} | {"open_count": "bigint"}
        self._types = tuple(columns.values())
        places = [list(types).index(name) for name in counted.columns]
        # Pick the columns of a key with its row, and one of them again: of one column alone no tuple is made.
        self._width = len(places)
        self._columns = itemgetter(*places, places[0])
        self._encoder = CopyEncoder(counted.table, columns)
        self._add = _add_statement(counted.table, columns)
        self._changes: dict[Row, int] = {}

    def replace(self, key: Row, before: Row | None, after: Row | None) -> None:
        """Count the replacement of the open row of a key by another one. None stands for no row."""
        for row, amount in ((before, -1), (after, 1)):
            if row is not None:
                counted = self._columns(key + row)
                self._changes[counted] = self._changes.get(counted, 0) + amount

    def take_closed_rows(self) -> Iterator[CopyData]:
        """Yield nothing: a rebuild writes each count once, at the end."""
        return iter(())

    def take_remaining_rows(self) -> Iterator[CopyData]:
        """Yield all counts, for an empty table."""
        return self._encoder.encode(self._take_changes())

    def flush(self, cursor: Cursor[Any]) -> None:
        """Add the changes of the page to the table."""
        if self._changes:
            cursor.execute(self._add, arrays(self._types, self._take_changes()))

    def _take_changes(self) -> list[Row]:
        changes, self._changes = self._changes, {}
        return [(*counted[: self._width], amount) for counted, amount in changes.items()]


def _add_statement(table: str, columns: dict[str, str]) -> bytes:
    *key, count = columns
    found = ", ".join(f"%s::{type_}[]" for type_ in columns.values())
    return (
        f"INSERT INTO {table} AS t ({', '.join(columns)}) SELECT * FROM unnest({found})"
        f" ON CONFLICT ({', '.join(key)}) DO UPDATE SET {count} = t.{count} + excluded.{count}"
    ).encode()
