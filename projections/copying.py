"""Rows as the lines that COPY takes, made column by column: most of what one says it says again and again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import orjson
from psycopg import Cursor

Row = tuple[Any, ...]

_NULL = "\\N"
_ESCAPED = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})


class Copied(NamedTuple):
    """Rows of one table, and the statement that takes them."""

    statement: bytes
    lines: bytes

    def write(self, cursor: Cursor[Any]) -> None:
        with cursor.copy(self.statement) as copy:
            copy.write(self.lines)


class Copying:
    """Into the columns of one table, some of which are JSON documents."""

    def __init__(self, table: str, columns: Sequence[str], json: Iterable[str]) -> None:
        self._statement = f"COPY {table} ({', '.join(columns)}) FROM STDIN".encode()
        self._json = frozenset(columns.index(column) for column in json)

    def copied(self, rows: Sequence[Row]) -> Iterator[Copied]:
        """None where there are no rows."""
        if rows:
            yield Copied(self._statement, lines(rows, self._json))


def lines(rows: Iterable[Row], json: frozenset[int]) -> bytes:
    """`json` are the places of documents. One that is not there is NULL, not `null`."""
    columns = zip(*rows, strict=True)
    texts = (_documents(column) if place in json else _values(column) for place, column in enumerate(columns))
    return "".join(["\n".join(map("\t".join, zip(*texts, strict=True))), "\n"]).encode()


def _documents(column: Row) -> Iterable[str]:
    # In JSON only a backslash is left to be escaped.
    return (_NULL if each is None else orjson.dumps(each).decode().replace("\\", "\\\\") for each in column)


def _values(column: Row) -> Iterable[str]:
    if set(map(type, column)) == {int}:
        # Mostly ids and positions, each another one.
        return map(str, column)
    return map(_Texts().__getitem__, column)


class _Texts(dict[Any, str]):
    """Of the values of one column. Those that are equal may have one text, 1 and 1.0 too."""

    def __missing__(self, value: Any) -> str:
        text = self[value] = _text(value)
        return text


def _text(value: Any) -> str:
    if value is None:
        return _NULL
    if isinstance(value, str):
        return value.translate(_ESCAPED)
    if isinstance(value, datetime):
        return value.isoformat()
    # Of two zeros that are equal, the one without a sign.
    return repr(value + 0.0) if isinstance(value, float) else str(value)
