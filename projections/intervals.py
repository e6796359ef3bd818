"""Tables of intervals: what was true of a key, from which position to before which, and the same in time.

A page of events is folded in memory over the open rows of the keys it touches; then closings and new rows are
written with one statement each, however many events the page has. What was folded or fetched once stays known
for the pages to come: nobody else writes these tables.
"""

from __future__ import annotations

from collections.abc import ItemsView, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, NamedTuple, TypeVar

from psycopg import Cursor
from psycopg.types.json import Jsonb

Key = tuple[Any, ...]
R = TypeVar("R", bound=NamedTuple)
Now = tuple[int, datetime]
"""Position and recorded_at of the event that is being folded."""

OPEN = 2**63 - 1
NEVER = "infinity"


@dataclass(slots=True)
class _Interval(Generic[R]):
    key: Key
    row: R
    since: Now
    until: Now | None = None


class Intervals(Generic[R]):
    """One interval table. `keys` are its key columns with their PostgreSQL types."""

    def __init__(self, table: str, keys: dict[str, str], row: type[R], json: Iterable[str] = ()) -> None:
        self._row = row
        self._json = _places(row, json)
        self._load, self._close, self._copy = _statements(table, keys, row._fields)
        self._open: dict[Key, R] = {}
        # The keys whose open row is known, or that they have none.
        self._known: set[Key] = set()
        self._start()

    def __len__(self) -> int:
        """Of how many keys it is known what is true."""
        return len(self._known)

    def _start(self) -> None:
        self._fresh: dict[Key, _Interval[R]] = {}
        self._closed: dict[Key, Now] = {}
        self._begun: list[_Interval[R]] = []

    def load(self, cursor: Cursor[Any], keys: Iterable[Key]) -> None:
        """Begin a page: fetch the open rows of those keys it touches that are not known."""
        self._start()
        wanted = [key for key in dict.fromkeys(keys) if key not in self._known]
        self._known.update(wanted)
        if wanted:
            width = len(wanted[0])
            for row in cursor.execute(self._load, _by_column(wanted)).fetchall():
                self._open[row[:width]] = self._row._make(row[width:])

    def get(self, key: Key) -> R | None:
        """What is true of the key now, if anything is."""
        return self._open.get(key)

    def of(self, key: Key) -> R:
        """What is true of the key now; something must be, or the log tells of what never began."""
        row = self._open.get(key)
        assert row is not None, f"{'/'.join(map(str, key))} is unknown"
        return row

    def items(self) -> ItemsView[Key, R]:
        """What is true now of all keys that are known, those that the page touches among them."""
        return self._open.items()

    def put(self, key: Key, row: R, now: Now) -> None:
        """From now on this is true of the key; nothing new if it was already."""
        if self._open.get(key) == row:
            return
        self.end(key, now)
        self._known.add(key)
        self._open[key] = row
        begun = self._fresh[key] = _Interval(key, row, now)
        self._begun.append(begun)

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
        if self._begun:
            with cursor.copy(self._copy) as copy:
                for begun in self._begun:
                    until = begun.until or (OPEN, NEVER)
                    copy.write_row((*begun.key, *_written(begun.row, self._json), *begun.since, *until))


class Facts(Generic[R]):
    """A table of what is true for ever once it happened."""

    def __init__(self, table: str, row: type[R], json: Iterable[str] = ()) -> None:
        self._json = _places(row, json)
        names = ", ".join((*row._fields, "since_position", "since"))
        self._copy = f"COPY {table} ({names}) FROM STDIN".encode()
        self.start()

    def start(self) -> None:
        self._rows: list[tuple[Any, ...]] = []

    def add(self, row: R, now: Now) -> None:
        self._rows.append((*_written(row, self._json), *now))

    def flush(self, cursor: Cursor[Any]) -> None:
        if self._rows:
            with cursor.copy(self._copy) as copy:
                for row in self._rows:
                    copy.write_row(row)


def _places(row: type[NamedTuple], columns: Iterable[str]) -> tuple[int, ...]:
    return tuple(row._fields.index(column) for column in columns)


def _written(row: tuple[Any, ...], json: Sequence[int]) -> Sequence[Any]:
    """The values of a row as PostgreSQL takes them: a JSON document that is not there is NULL, not `null`."""
    if not json:
        return row
    values = list(row)
    for place in json:
        if values[place] is not None:
            values[place] = Jsonb(values[place])
    return values


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
        f" JOIN {table} t ON {same} AND {open_}"
    )
    close = (
        f"UPDATE {table} t SET until_position = wanted.position, until = wanted.moment"
        f" FROM unnest({arrays}, %s::bigint[], %s::timestamptz[])"
        f" AS wanted ({', '.join(names)}, position, moment) WHERE {same} AND {open_}"
    )
    every = ", ".join((*names, *columns, "since_position", "since", "until_position", "until"))
    return load.encode(), close.encode(), f"COPY {table} ({every}) FROM STDIN".encode()
