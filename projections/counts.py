"""Tables that count the open rows of a table of intervals, by its first columns.

A page of events adds what it has changed with one statement, in the transaction that writes the rows: nobody
ever counts the rows, and whoever reads both reads them in step.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from psycopg import Cursor

from postgres.binary_copy import Copied, Copying, Row, arrays
from projections.rows import types_of


@dataclass(frozen=True)
class Counted:
    """The number of open rows of `counts_rows_of` by `columns`, the first ones of its rows."""

    table: str
    counts_rows_of: str
    columns: tuple[str, ...]


RECIPE_COUNTS = Counted("recipe_counts", "recipes", ("state",))
SYSTEM_COUNTS = Counted("system_counts", "system_usage", ("condition", "usage"))
COUNTED = (RECIPE_COUNTS, SYSTEM_COUNTS)


class Counts:
    """What a page changes in one of these tables. Mutable.

    A key that was ever counted keeps its row, so the rows do not depend on how the log is cut into pages.
    """

    def __init__(self, counted: Counted, row: type[NamedTuple]) -> None:
        types = types_of(row)
        columns = {name: types[name] for name in counted.columns} | {"open_count": "bigint"}
        self._types = tuple(columns.values())
        self._width = len(counted.columns)
        self._copying = Copying(counted.table, columns)
        self._add = _add(counted.table, columns)
        self._changes: dict[Row, int] = {}

    def move(self, before: Row | None, after: Row | None) -> None:
        """Note that one row has become another one; None: there was none, or is none."""
        for row, amount in ((before, -1), (after, 1)):
            if row is not None:
                key = row[: self._width]
                self._changes[key] = self._changes.get(key, 0) + amount

    def take_ended(self) -> Iterator[Copied]:
        """Yield nothing: each number is taken when it is final."""
        return iter(())

    def take_rest(self) -> Iterator[Copied]:
        """Yield all numbers, for an empty table."""
        return self._copying.copied(self._take())

    def flush(self, cursor: Cursor[Any]) -> None:
        """Write the page."""
        if self._changes:
            cursor.execute(self._add, arrays(self._types, self._take()))

    def _take(self) -> list[Row]:
        changes, self._changes = self._changes, {}
        return [(*key, amount) for key, amount in changes.items()]


def _add(table: str, columns: dict[str, str]) -> bytes:
    *key, count = columns
    found = ", ".join(f"%s::{type_}[]" for type_ in columns.values())
    return (
        f"INSERT INTO {table} AS t ({', '.join(columns)}) SELECT * FROM unnest({found})"
        f" ON CONFLICT ({', '.join(key)}) DO UPDATE SET {count} = t.{count} + excluded.{count}"
    ).encode()
