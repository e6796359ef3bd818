"""Rows as COPY takes them in its binary format, and arrays: no number and no moment is read from a text.

Made column by column: most of what one says it says again and again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import chain, repeat
from struct import Struct
from typing import Any, Final, NamedTuple

import orjson
from psycopg import Cursor, adapters, postgres
from psycopg.adapt import Dumper
from psycopg.pq import Format

Row = tuple[Any, ...]
Encoded = Callable[[Row], Iterable[bytes]]
"""The values of one column, each with its length before it."""

NEVER = "infinity"
"""The moment after all others."""
# Some megabytes.
ROWS_AT_ONCE: Final = 20_000

_BEGINNING: Final = b"PGCOPY\n\xff\r\n\0" + bytes(8)
_END: Final = b"\xff\xff"
_NULL: Final = b"\xff\xff\xff\xff"
_FIELDS: Final = Struct(">h").pack
_LENGTH: Final = Struct(">i").pack
_MOMENT: Final = Struct(">iq").pack
_EPOCH, _MICROSECOND = datetime(2000, 1, 1, tzinfo=UTC), timedelta(microseconds=1)
_LAST: Final = 2**63 - 1
_ARRAY: Final = Struct(">iiIii").pack


class Copied(NamedTuple):
    """Rows of one table, and the statement that takes them."""

    statement: bytes
    rows: bytes

    def write(self, cursor: Cursor[Any]) -> None:
        with cursor.copy(self.statement) as copy:
            copy.write(self.rows)


class Copying:
    """Into a table's columns, by name with their PostgreSQL types."""

    def __init__(self, table: str, columns: Mapping[str, str]) -> None:
        self._statement = f"COPY {table} ({', '.join(columns)}) FROM STDIN (FORMAT binary)".encode()
        self._encoders = tuple(_ENCODERS[type_] for type_ in columns.values())

    def copied(self, rows: Sequence[Row]) -> Iterator[Copied]:
        """In pieces, so that the first are taken while the next are made; none where there are no rows."""
        for first in range(0, len(rows), ROWS_AT_ONCE):
            piece = rows[first : first + ROWS_AT_ONCE]
            yield Copied(self._statement, encoded(piece, self._encoders))


def encoded(rows: Iterable[Row], encoders: Sequence[Encoded]) -> bytes:
    columns = zip(*rows, strict=True)
    values = [encode(column) for encode, column in zip(encoders, columns, strict=True)]
    of_rows = zip(repeat(_FIELDS(len(encoders))), *values)
    return b"".join((_BEGINNING, *chain.from_iterable(of_rows), _END))


class Array(NamedTuple):
    """A column in the binary format of arrays, to be asked for as `%s::type[]`."""

    encoded: bytes


def array(type_: str, column: Row) -> Array:
    head = _ARRAY(1, None in column, _ELEMENTS[type_], len(column), 1)
    return Array(head + b"".join(_ENCODERS[type_](column)))


def arrays(types: Iterable[str], rows: Iterable[Row]) -> list[Array]:
    """Return the columns of rows, by their PostgreSQL types."""
    return [array(type_, column) for type_, column in zip(types, zip(*rows, strict=True), strict=True)]


class _ArrayDumper(Dumper):
    """The type is that which the statement names."""

    format = Format.BINARY

    def dump(self, obj: Array) -> bytes:
        return obj.encoded


adapters.register_dumper(Array, _ArrayDumper)


class _Known(dict[Any, bytes]):
    """What values of one column are encoded as. Those that are equal are encoded alike."""

    def __init__(self, encode: Callable[[Any], bytes]) -> None:
        self._encode = encode

    def __missing__(self, value: Any) -> bytes:
        made = self[value] = _NULL if value is None else self._encode(value)
        return made


def _repeated(encode: Callable[[Any], bytes]) -> Encoded:
    return lambda column: map(_Known(encode).__getitem__, column)


def _number(format_: str) -> Encoded:
    packing = Struct(f">i{format_}")
    pack, size = packing.pack, packing.size - 4

    def encode(column: Row) -> Iterable[bytes]:
        if None in column:
            return map(_Known(lambda value: pack(size, value)).__getitem__, column)
        # Mostly ids and positions, each another one.
        return map(pack, repeat(size), column)

    return encode


def _documents(column: Row) -> Iterable[bytes]:
    """One that is not there is NULL, not `null`."""
    return (_NULL if each is None else _with_length(b"\1" + orjson.dumps(each)) for each in column)


def _with_length(value: bytes) -> bytes:
    return _LENGTH(len(value)) + value


def _moment(value: Any) -> bytes:
    return _MOMENT(8, _LAST if value == NEVER else (value - _EPOCH) // _MICROSECOND)


# Of two zeros that are equal, the one without a sign.
_FLOAT: Final = Struct(">id").pack

_ENCODERS: Final[Mapping[str, Encoded]] = {
    "text": _repeated(lambda value: _with_length(value.encode())),
    "smallint": _number("h"),
    "integer": _number("i"),
    "bigint": _number("q"),
    "boolean": _repeated(lambda value: _with_length(bytes((value,)))),
    "double precision": _repeated(lambda value: _FLOAT(8, value + 0.0)),
    "timestamptz": _repeated(_moment),
    "jsonb": _documents,
}

_ELEMENTS: Final = {name: postgres.types[name].oid for name in _ENCODERS}
