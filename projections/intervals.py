"""Tables of intervals: what was true of a key, from which position to before which, and the same in time.

A page of events is folded in memory over the open rows of the keys it touches; then closings and new rows are
written with one statement each, however many events the page has. What was folded or fetched once stays known
for the pages to come: nobody else writes these tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any, Generic, NamedTuple, TypeVar

from psycopg import Cursor

from postgres.binary_copy import NEVER, Copied, Copying, Row, arrays
from projections.counts import Counts
from projections.rows import types_of

Key = tuple[Any, ...]
R = TypeVar("R", bound=NamedTuple)
Now = tuple[int, datetime]
"""Position and recorded_at of the event that is being folded."""

OPEN = 2**63 - 1
_SINCE = {"since_position": "bigint", "since": "timestamptz"}
_UNTIL = {"until_position": "bigint", "until": "timestamptz"}
_FOR_EVER = (OPEN, NEVER)


class Intervals(Generic[R]):
    """One interval table. `keys` are its key columns with their PostgreSQL types.

    `all_known`: the table is empty, so there is nothing to fetch, now or later. `counts` is given each change
    of the open rows.
    """

    def __init__(
        self,
        table: str,
        keys: dict[str, str],
        row: type[R],
        *,
        all_known: bool = False,
        counts: Counts | None = None,
    ) -> None:
        self._row = row
        self._counts = counts
        self._all_known = all_known
        self._load, self._close = _statements(table, keys, row._fields)
        self._key_types = tuple(keys.values())
        self._copying = Copying(table, {**keys, **types_of(row), **_SINCE, **_UNTIL})
        # What is true, and since when where that is not stored yet.
        self._open: dict[Key, tuple[R, Now | None]] = {}
        # The keys whose open row is known, or that they have none.
        self._known: set[Key] = set()
        self._start()

    def __len__(self) -> int:
        """Of how many keys it is known what is true."""
        return len(self._open) if self._all_known else len(self._known)

    def _start(self) -> None:
        # The keys that have a row since the last page. Where nothing is stored, all that are open have.
        self._moved: dict[Key, None] = {}
        # What is stored and was open, and what neither began nor ended before.
        self._closed: dict[Key, Now] = {}
        self._ended: list[Row] = []

    def load(self, cursor: Cursor[Any], keys: Iterable[Key]) -> None:
        """Begin a page: fetch the open rows of those keys it touches that are not known."""
        if self._all_known:
            return
        wanted = [key for key in dict.fromkeys(keys) if key not in self._known]
        self._known.update(wanted)
        if wanted:
            width = len(wanted[0])
            for row in cursor.execute(self._load, arrays(self._key_types, wanted)).fetchall():
                self._open[row[:width]] = self._row._make(row[width:]), None

    def get(self, key: Key) -> R | None:
        """What is true of the key now, if anything is."""
        known = self._open.get(key)
        return None if known is None else known[0]

    def of(self, key: Key) -> R:
        """What is true of the key now; something must be, or the log tells of what never began."""
        known = self._open.get(key)
        assert known is not None, f"{'/'.join(map(str, key))} is unknown"
        return known[0]

    def items(self) -> Iterator[tuple[Key, R]]:
        """What is true now of all keys that are known, those that the page touches among them."""
        return ((key, row) for key, (row, _) in self._open.items())

    def put(self, key: Key, row: R, now: Now) -> None:
        """From now on this is true of the key; nothing new if it was already."""
        known = self._open.get(key)
        if known is not None:
            if known[0] == row:
                return
            self._end(key, known, now)
        if self._counts is not None:
            self._counts.move(known and known[0], row)
        self._open[key] = row, now
        if not self._all_known:
            self._known.add(key)
            self._moved[key] = None

    def end(self, key: Key, now: Now) -> None:
        """From now on nothing is true of the key."""
        known = self._open.pop(key, None)
        if known is not None:
            self._end(key, known, now)
            if self._counts is not None:
                self._counts.move(known[0], None)

    def _end(self, key: Key, known: tuple[R, Now | None], now: Now) -> None:
        row, since = known
        if since is None:
            self._closed[key] = now
        else:
            self._ended.append(key + row + since + now)

    def take_ended(self) -> Iterator[Copied]:
        """The rows that have begun and ended. What is true now is kept back, until `take_rest`."""
        ended, self._ended = self._ended, []
        return self._copying.copied(ended)

    def take_rest(self) -> Iterator[Copied]:
        """All rows that are not written yet."""
        rows, open_ = self._ended, self._open
        for key in open_ if self._all_known else self._moved:
            known = open_.get(key)
            if known is None:
                continue
            row, since = known
            if since is not None:
                rows.append(key + row + since + _FOR_EVER)
                open_[key] = row, None
        self._start()
        return self._copying.copied(rows)

    def flush(self, cursor: Cursor[Any]) -> None:
        """Write the page."""
        if self._closed:
            ended = [(*key, *now) for key, now in self._closed.items()]
            cursor.execute(self._close, arrays((*self._key_types, *_SINCE.values()), ended))
        for copied in self.take_rest():
            copied.write(cursor)


class Facts(Generic[R]):
    """A table of what is true for ever once it happened."""

    def __init__(self, table: str, row: type[R]) -> None:
        self._copying = Copying(table, {**types_of(row), **_SINCE})
        self._rows: list[Row] = []

    def add(self, row: R, now: Now) -> None:
        self._rows.append(row + now)

    def take_ended(self) -> Iterator[Copied]:
        """All there are."""
        rows, self._rows = self._rows, []
        return self._copying.copied(rows)

    def take_rest(self) -> Iterator[Copied]:
        return self.take_ended()

    def flush(self, cursor: Cursor[Any]) -> None:
        for copied in self.take_ended():
            copied.write(cursor)


def _statements(table: str, keys: dict[str, str], columns: tuple[str, ...]) -> tuple[bytes, bytes]:
    """Load open rows by key, close them. The names are this program's own, never input."""
    names = tuple(keys)
    wanted = ", ".join(f"%s::{type_}[]" for type_ in keys.values())
    same = " AND ".join(f"t.{name} = wanted.{name}" for name in names)
    open_ = f"t.until_position = {OPEN}"
    shown = ", ".join(f"t.{name}" for name in (*names, *columns))
    # OFFSET 0: each by its key, also where the planner believes that hardly any row is open (`members`).
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
