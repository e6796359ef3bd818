"""Tables of intervals: each row of a key is valid from one log position, and time, until another.

A page of events is folded in memory over the open rows of its keys. Then one statement closes stored rows,
and another writes new rows, for any number of events. Open rows stay cached for later pages, because no other
process writes these tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from psycopg import Cursor

from postgres.binary_copy import NEVER, CopyData, CopyEncoder, Row, arrays
from projections.rows import types_of

Key = tuple[Any, ...]
R = TypeVar("R", bound=NamedTuple)
Instant = tuple[int, datetime]
"""Position and recorded_at of the folded event: the beginning or the end of an interval."""

OPEN_UNTIL = 2**63 - 1
_SINCE = {"since_position": "bigint", "since": "timestamptz"}
_UNTIL = {"until_position": "bigint", "until": "timestamptz"}
_FOR_EVER = (OPEN_UNTIL, NEVER)


class RowCounts(Protocol):
    def replace(self, key: Row, before: Row | None, after: Row | None) -> None:
        """Count the replacement of the open row of a key by another one. None stands for no row."""


class Intervals(Generic[R]):
    """One interval table. `keys` are its key columns with their PostgreSQL types.

    With `tables_are_empty`, all rows come from this process, so none is ever fetched. `counts` counts the
    open rows.
    """

    def __init__(
        self,
        table: str,
        keys: dict[str, str],
        row: type[R],
        *,
        tables_are_empty: bool = False,
        counts: RowCounts | None = None,
    ) -> None:
        self._row = row
        self._counts = counts
        self._tables_are_empty = tables_are_empty
        self._load_query, self._close_query = _statements(table, keys, row._fields)
        self._key_types = tuple(keys.values())
        self._encoder = CopyEncoder(table, {**keys, **types_of(row), **_SINCE, **_UNTIL})
        # The cached open rows, each with its beginning if it is not stored yet.
        self._open: dict[Key, tuple[R, Instant | None]] = {}
        # The keys whose open row, or the lack of one, is cached.
        self._cached: set[Key] = set()
        self._begin_page()

    def __len__(self) -> int:
        return len(self._open) if self._tables_are_empty else len(self._cached)

    def _begin_page(self) -> None:
        # The keys with a new row on this page; not used if the tables are empty.
        self._changed_keys: dict[Key, None] = {}
        # The ends of stored rows that this page closes, and the closed rows that were never stored.
        self._ends: dict[Key, Instant] = {}
        self._closed_rows: list[Row] = []

    def load(self, cursor: Cursor[Any], keys: Iterable[Key]) -> None:
        """Fetch the open rows of keys that are not cached."""
        if self._tables_are_empty:
            return
        missing = [key for key in dict.fromkeys(keys) if key not in self._cached]
        self._cached.update(missing)
        if missing:
            width = len(missing[0])
            for row in cursor.execute(self._load_query, arrays(self._key_types, missing)).fetchall():
                self._open[row[:width]] = self._row._make(row[width:]), None

    def get(self, key: Key) -> R | None:
        entry = self._open.get(key)
        return None if entry is None else entry[0]

    def of(self, key: Key) -> R:
        """Return the open row of a key. Raises AssertionError if there is none: the log is inconsistent."""
        entry = self._open.get(key)
        assert entry is not None, f"{'/'.join(map(str, key))} is unknown"
        return entry[0]

    def items(self) -> Iterator[tuple[Key, R]]:
        return ((key, row) for key, (row, _) in self._open.items())

    def put(self, key: Key, row: R, now: Instant) -> None:
        """Replace the open row of a key, unless the new row is equal."""
        before = self._open.get(key)
        if before is not None:
            if before[0] == row:
                return
            self._close(key, before, now)
        if self._counts is not None:
            self._counts.replace(key, before and before[0], row)
        self._open[key] = row, now
        if not self._tables_are_empty:
            self._cached.add(key)
            self._changed_keys[key] = None

    def end(self, key: Key, now: Instant) -> None:
        """Close the open row of a key, if there is one."""
        before = self._open.pop(key, None)
        if before is not None:
            self._close(key, before, now)
            if self._counts is not None:
                self._counts.replace(key, before[0], None)

    def _close(self, key: Key, before: tuple[R, Instant | None], now: Instant) -> None:
        row, since = before
        if since is None:
            self._ends[key] = now
        else:
            self._closed_rows.append(key + row + since + now)

    def take_closed_rows(self) -> Iterator[CopyData]:
        """Yield the closed rows that are not stored. `take_remaining_rows` yields the open ones."""
        rows, self._closed_rows = self._closed_rows, []
        return self._encoder.encode(rows)

    def take_remaining_rows(self) -> Iterator[CopyData]:
        """Yield all rows that are not stored."""
        rows, open_ = self._closed_rows, self._open
        for key in open_ if self._tables_are_empty else self._changed_keys:
            entry = open_.get(key)
            if entry is None:
                continue
            row, since = entry
            if since is not None:
                rows.append(key + row + since + _FOR_EVER)
                open_[key] = row, None
        self._begin_page()
        return self._encoder.encode(rows)

    def flush(self, cursor: Cursor[Any]) -> None:
        if self._ends:
            ends = [(*key, *end) for key, end in self._ends.items()]
            cursor.execute(self._close_query, arrays((*self._key_types, *_SINCE.values()), ends))
        for copied in self.take_remaining_rows():
            copied.write(cursor)


class FactTable(Generic[R]):
    """A table of rows that never change."""

    def __init__(self, table: str, row: type[R]) -> None:
        self._encoder = CopyEncoder(table, {**types_of(row), **_SINCE})
        self._rows: list[Row] = []

    def add(self, row: R, now: Instant) -> None:
        self._rows.append(row + now)

    def take_closed_rows(self) -> Iterator[CopyData]:
        """Yield all rows that are not stored."""
        rows, self._rows = self._rows, []
        return self._encoder.encode(rows)

    def take_remaining_rows(self) -> Iterator[CopyData]:
        return self.take_closed_rows()

    def flush(self, cursor: Cursor[Any]) -> None:
        for copied in self.take_closed_rows():
            copied.write(cursor)


def _statements(table: str, keys: dict[str, str], columns: tuple[str, ...]) -> tuple[bytes, bytes]:
    """Return the statements that load and close open rows. All names are constants of this program."""
    names = tuple(keys)
    wanted = ", ".join(f"%s::{type_}[]" for type_ in keys.values())
    same = " AND ".join(f"t.{name} = wanted.{name}" for name in names)
    open_ = f"t.until_position = {OPEN_UNTIL}"
    shown = ", ".join(f"t.{name}" for name in (*names, *columns))
    # OFFSET 0 makes the planner look up each key (as in `members`), even if it expects hardly any open rows:
    # statistics of a large table may be from before there were any. It would compare them all with each key.
    # Nobody else writes these rows, so none moves to another place (ctid) meanwhile.
    load = (
        f"SELECT found.* FROM unnest({wanted}) AS wanted ({', '.join(names)})"
        f" CROSS JOIN LATERAL (SELECT {shown} FROM {table} t WHERE {same} AND {open_} OFFSET 0) AS found"
    )
    close = (
        f"UPDATE {table} t SET until_position = wanted.position, until = wanted.moment"
        f" FROM unnest({wanted}, %s::bigint[], %s::timestamptz[])"
        f" AS wanted ({', '.join(names)}, position, moment)"
        f" CROSS JOIN LATERAL (SELECT t.ctid FROM {table} t WHERE {same} AND {open_} OFFSET 0) AS found"
        " WHERE t.ctid = found.ctid"
    )
    return load.encode(), close.encode()
