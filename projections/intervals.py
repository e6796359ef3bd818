"""Tables of intervals: the rows of each key, valid from one position to before another, and the same in time.

A page of events is folded in memory over the open rows of its keys. Then one statement closes rows, and
another writes new ones, for any number of events. Rows stay cached for later pages, because no other process
writes these tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any, Generic, NamedTuple, TypeVar

from psycopg import Cursor

from postgres.binary_copy import NEVER, CopyData, CopyEncoder, Row, arrays
from projections.counts import OpenRowCounts
from projections.rows import types_of

Key = tuple[Any, ...]
R = TypeVar("R", bound=NamedTuple)
Now = tuple[int, datetime]
"""Position and recorded_at of the folded event."""

OPEN = 2**63 - 1
_SINCE = {"since_position": "bigint", "since": "timestamptz"}
_UNTIL = {"until_position": "bigint", "until": "timestamptz"}
_FOR_EVER = (OPEN, NEVER)


class Intervals(Generic[R]):
    """One interval table. `keys` are its key columns with their PostgreSQL types.

    `tables_are_empty` says that all rows come from this process, so that none is ever fetched. `counts`
    counts the open rows.
    """

    def __init__(
        self,
        table: str,
        keys: dict[str, str],
        row: type[R],
        *,
        tables_are_empty: bool = False,
        counts: OpenRowCounts | None = None,
    ) -> None:
        self._row = row
        self._counts = counts
        self._tables_are_empty = tables_are_empty
        self._load, self._close = _statements(table, keys, row._fields)
        self._key_types = tuple(keys.values())
        self._encoder = CopyEncoder(table, {**keys, **types_of(row), **_SINCE, **_UNTIL})
        # The open rows, each with its beginning if it is not stored yet.
        self._open: dict[Key, tuple[R, Now | None]] = {}
        # The keys whose open row, or the lack of one, is cached.
        self._cached: set[Key] = set()
        self._start()

    def __len__(self) -> int:
        """Return the number of cached keys."""
        return len(self._open) if self._tables_are_empty else len(self._cached)

    def _start(self) -> None:
        # The keys with a new row on this page; not used if the tables are empty.
        self._moved: dict[Key, None] = {}
        # Stored rows that this page closes, and rows that began and ended without being stored.
        self._closed: dict[Key, Now] = {}
        self._ended: list[Row] = []

    def load(self, cursor: Cursor[Any], keys: Iterable[Key]) -> None:
        """Begin a page: fetch the open rows of its keys that are not cached."""
        if self._tables_are_empty:
            return
        wanted = [key for key in dict.fromkeys(keys) if key not in self._cached]
        self._cached.update(wanted)
        if wanted:
            width = len(wanted[0])
            for row in cursor.execute(self._load, arrays(self._key_types, wanted)).fetchall():
                self._open[row[:width]] = self._row._make(row[width:]), None

    def get(self, key: Key) -> R | None:
        """Return the open row of a key, or None."""
        found = self._open.get(key)
        return None if found is None else found[0]

    def of(self, key: Key) -> R:
        """Return the open row of a key. Raises AssertionError without one: then the log is inconsistent."""
        found = self._open.get(key)
        assert found is not None, f"{'/'.join(map(str, key))} is unknown"
        return found[0]

    def items(self) -> Iterator[tuple[Key, R]]:
        """Return all cached keys with their open rows."""
        return ((key, row) for key, (row, _) in self._open.items())

    def put(self, key: Key, row: R, now: Now) -> None:
        """Replace the open row of a key, unless it is equal."""
        before = self._open.get(key)
        if before is not None:
            if before[0] == row:
                return
            self._end(key, before, now)
        if self._counts is not None:
            self._counts.move(before and before[0], row)
        self._open[key] = row, now
        if not self._tables_are_empty:
            self._cached.add(key)
            self._moved[key] = None

    def end(self, key: Key, now: Now) -> None:
        """Close the open row of a key, if there is one."""
        before = self._open.pop(key, None)
        if before is not None:
            self._end(key, before, now)
            if self._counts is not None:
                self._counts.move(before[0], None)

    def _end(self, key: Key, before: tuple[R, Now | None], now: Now) -> None:
        row, since = before
        if since is None:
            self._closed[key] = now
        else:
            self._ended.append(key + row + since + now)

    def take_ended(self) -> Iterator[CopyData]:
        """Yield the closed rows that are not stored; open rows follow with `take_rest`."""
        ended, self._ended = self._ended, []
        return self._encoder.encode(ended)

    def take_rest(self) -> Iterator[CopyData]:
        """Yield all rows that are not stored."""
        rows, open_ = self._ended, self._open
        for key in open_ if self._tables_are_empty else self._moved:
            found = open_.get(key)
            if found is None:
                continue
            row, since = found
            if since is not None:
                rows.append(key + row + since + _FOR_EVER)
                open_[key] = row, None
        self._start()
        return self._encoder.encode(rows)

    def flush(self, cursor: Cursor[Any]) -> None:
        """Write the page."""
        if self._closed:
            ended = [(*key, *now) for key, now in self._closed.items()]
            cursor.execute(self._close, arrays((*self._key_types, *_SINCE.values()), ended))
        for copied in self.take_rest():
            copied.write(cursor)


class Facts(Generic[R]):
    """A table of rows that never change."""

    def __init__(self, table: str, row: type[R]) -> None:
        self._encoder = CopyEncoder(table, {**types_of(row), **_SINCE})
        self._rows: list[Row] = []

    def add(self, row: R, now: Now) -> None:
        self._rows.append(row + now)

    def take_ended(self) -> Iterator[CopyData]:
        """Yield all rows that are not stored."""
        rows, self._rows = self._rows, []
        return self._encoder.encode(rows)

    def take_rest(self) -> Iterator[CopyData]:
        return self.take_ended()

    def flush(self, cursor: Cursor[Any]) -> None:
        for copied in self.take_ended():
            copied.write(cursor)


def _statements(table: str, keys: dict[str, str], columns: tuple[str, ...]) -> tuple[bytes, bytes]:
    """Return the statements that load and close open rows. The names are constants of this program, never
    input.
    """
    names = tuple(keys)
    wanted = ", ".join(f"%s::{type_}[]" for type_ in keys.values())
    same = " AND ".join(f"t.{name} = wanted.{name}" for name in names)
    open_ = f"t.until_position = {OPEN}"
    shown = ", ".join(f"t.{name}" for name in (*names, *columns))
    # OFFSET 0 makes the planner look up each key, even if it expects hardly any open rows (as in `members`).
    load = (
        f"SELECT found.* FROM unnest({wanted}) AS wanted ({', '.join(names)})"
        f" CROSS JOIN LATERAL (SELECT {shown} FROM {table} t WHERE {same} AND {open_} OFFSET 0) AS found"
    )
    close = (
        f"UPDATE {table} t SET until_position = wanted.position, until = wanted.moment"
        f" FROM unnest({wanted}, %s::bigint[], %s::timestamptz[])"
        f" AS wanted ({', '.join(names)}, position, moment) WHERE {same} AND {open_}"
    )
    return load.encode(), close.encode()
