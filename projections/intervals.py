"""Tables of intervals: what was true of a key, from which position to before which, and the same in time.

A page of events is folded in memory over the open rows of the keys it touches; then closings and new rows are
written with one statement each, however many events the page has.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from psycopg import Cursor
from psycopg.types.json import Jsonb

Key = tuple[Any, ...]
Values = tuple[Any, ...]
Now = tuple[int, datetime]
"""Position and recorded_at of the event that is being folded."""

OPEN = 2**63 - 1
NEVER = "infinity"


@dataclass
class _Row:
    key: Key
    values: Values
    since: Now
    until: Now | None = None


class Intervals:
    """One interval table during one page. `keys` are its key columns with their PostgreSQL types."""

    def __init__(
        self, table: str, keys: dict[str, str], columns: Sequence[str], json: Iterable[str] = ()
    ) -> None:
        self._columns = tuple(columns)
        self._json = frozenset(json)
        self._load, self._close, self._copy = _statements(table, keys, self._columns)
        self._start()

    def _start(self) -> None:
        self._open: dict[Key, Values] = {}
        self._fresh: dict[Key, _Row] = {}
        self._closed: dict[Key, Now] = {}
        self._rows: list[_Row] = []

    def load(self, cursor: Cursor[Any], keys: Iterable[Key]) -> None:
        """Begin a page: fetch the open rows of the keys it touches."""
        self._start()
        wanted = list(dict.fromkeys(keys))
        if wanted:
            width = len(wanted[0])
            for row in cursor.execute(self._load, _by_column(wanted)).fetchall():
                self._open[row[:width]] = row[width:]

    def get(self, key: Key) -> Values | None:
        """What is true of the key now, if anything is."""
        return self._open.get(key)

    def put(self, key: Key, values: Values, now: Now) -> None:
        """From now on this is true of the key; nothing new if it was already."""
        if self._open.get(key) == values:
            return
        self.end(key, now)
        self._open[key] = values
        row = self._fresh[key] = _Row(key, values, now)
        self._rows.append(row)

    def end(self, key: Key, now: Now) -> None:
        """From now on nothing is true of the key."""
        if self._open.pop(key, None) is None:
            return
        fresh = self._fresh.pop(key, None)
        if fresh is None:
            self._closed[key] = now
        else:
            fresh.until = now

    def flush(self, cursor: Cursor[Any]) -> None:
        """Write the page."""
        if self._closed:
            keys = _by_column(list(self._closed))
            ends = _by_column(list(self._closed.values()))
            cursor.execute(self._close, (*keys, *ends))
        if self._rows:
            with cursor.copy(self._copy) as copy:
                for row in self._rows:
                    copy.write_row(self._written(row))

    def _written(self, row: _Row) -> tuple[Any, ...]:
        values = [
            Jsonb(value) if column in self._json else value
            for column, value in zip(self._columns, row.values, strict=True)
        ]
        return (*row.key, *values, *row.since, *(row.until or (OPEN, NEVER)))


class Facts:
    """A table of what is true for ever once it happened."""

    def __init__(self, table: str, columns: Sequence[str], json: Iterable[str] = ()) -> None:
        self._columns = tuple(columns)
        self._json = frozenset(json)
        names = ", ".join((*columns, "since_position", "since"))
        self._copy = f"COPY read.{table} ({names}) FROM STDIN".encode()
        self._rows: list[tuple[Any, ...]] = []

    def start(self) -> None:
        self._rows = []

    def add(self, values: Values, now: Now) -> None:
        written = [
            Jsonb(value) if column in self._json else value
            for column, value in zip(self._columns, values, strict=True)
        ]
        self._rows.append((*written, *now))

    def flush(self, cursor: Cursor[Any]) -> None:
        if self._rows:
            with cursor.copy(self._copy) as copy:
                for row in self._rows:
                    copy.write_row(row)


def _by_column(rows: Sequence[tuple[Any, ...]]) -> list[list[Any]]:
    return [list(column) for column in zip(*rows, strict=True)]


def _statements(table: str, keys: dict[str, str], columns: tuple[str, ...]) -> tuple[bytes, bytes, bytes]:
    """Load open rows by key, close them, copy new ones. The names are this program's own, never input."""
    names = tuple(keys)
    arrays = ", ".join(f"%s::{type_}[]" for type_ in keys.values())
    same = " AND ".join(f"t.{name} = wanted.{name}" for name in names)
    open_ = f"t.until_position = {OPEN}"
    shown = ", ".join(f"t.{name}" for name in (*names, *columns))
    load = (
        f"SELECT {shown} FROM unnest({arrays}) AS wanted ({', '.join(names)})"
        f" JOIN read.{table} t ON {same} AND {open_}"
    )
    close = (
        f"UPDATE read.{table} t SET until_position = wanted.position, until = wanted.moment"
        f" FROM unnest({arrays}, %s::bigint[], %s::timestamptz[])"
        f" AS wanted ({', '.join(names)}, position, moment) WHERE {same} AND {open_}"
    )
    every = ", ".join((*names, *columns, "since_position", "since", "until_position", "until"))
    return load.encode(), close.encode(), f"COPY read.{table} ({every}) FROM STDIN".encode()
