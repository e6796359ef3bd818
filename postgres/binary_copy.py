"""Encoders for rows and arrays in PostgreSQL's binary formats, so that the server parses no text.

Rows are encoded column by column, because most columns repeat a few values.
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
ColumnEncoder = Callable[[Sequence[Any]], Iterable[bytes]]
"""Encodes the values of one column, each preceded by its length."""

BITS: Final = 2_048
"""The length of columns of the type bit."""
NEVER = "infinity"
"""The timestamp after all others."""
# Some megabytes.
ROWS_PER_PIECE: Final = 20_000
# Rows that are encoded together: so many that columns repeat their values, and so few that the processor
# keeps them in its cache.
ROWS_AT_ONCE: Final = 1_000

_BEGINNING: Final = b"PGCOPY\n\xff\r\n\0" + bytes(8)
_END: Final = b"\xff\xff"
_NULL: Final = b"\xff\xff\xff\xff"
_FIELDS: Final = Struct(">h").pack
_LENGTH: Final = Struct(">i").pack
_MOMENT: Final = Struct(">iq").pack
_EPOCH, _MICROSECOND = datetime(2000, 1, 1, tzinfo=UTC), timedelta(microseconds=1)
_LAST: Final = 2**63 - 1
_ARRAY: Final = Struct(">iiIii").pack


class CopyData(NamedTuple):
    """Encoded rows of one table, and the COPY statement for them."""

    statement: bytes
    rows: bytes

    def write(self, cursor: Cursor[Any]) -> None:
        with cursor.copy(self.statement) as copy:
            copy.write(self.rows)


class CopyEncoder:
    """An encoder for rows of one table. `columns` maps names to PostgreSQL types."""

    def __init__(self, table: str, columns: Mapping[str, str]) -> None:
        self._statement = f"COPY {table} ({', '.join(columns)}) FROM STDIN (FORMAT binary)".encode()
        self._encoders = tuple(_ENCODERS[type_] for type_ in columns.values())

    def encode(self, rows: Sequence[Row]) -> Iterator[CopyData]:
        """Yield the rows in pieces, so that the server reads one while the next is encoded."""
        for first in range(0, len(rows), ROWS_PER_PIECE):
            piece = rows[first : first + ROWS_PER_PIECE]
            yield CopyData(self._statement, encoded(piece, self._encoders))


def encoded(rows: Sequence[Row], encoders: Sequence[ColumnEncoder]) -> bytes:
    chunks = (rows[first : first + ROWS_AT_ONCE] for first in range(0, len(rows), ROWS_AT_ONCE))
    return b"".join((_BEGINNING, *(_encoded_rows(chunk, encoders) for chunk in chunks), _END))


def _encoded_rows(rows: Sequence[Row], encoders: Sequence[ColumnEncoder]) -> bytes:
    columns = zip(*rows, strict=True)
    values = [encode(column) for encode, column in zip(encoders, columns, strict=True)]
    of_rows = zip(repeat(_FIELDS(len(encoders))), *values)
    return b"".join(chain.from_iterable(of_rows))


class Array(NamedTuple):
    """A column as a binary array, for a parameter `%s::type[]`."""

    encoded: bytes


class ArrayColumn(list[Any]):
    """A list of values for a parameter `%b::type[]`, sent as an `Array`."""

    def __init__(self, type_: str, values: Iterable[Any]) -> None:
        super().__init__(values)
        self.type_ = type_


def array(type_: str, column: Sequence[Any]) -> Array:
    head = _ARRAY(1, None in column, _ELEMENTS[type_], len(column), 1)
    return Array(head + b"".join(_ENCODERS[type_](column)))


def arrays(types: Iterable[str], rows: Iterable[Row]) -> list[Array]:
    return [array(type_, column) for type_, column in zip(types, zip(*rows, strict=True), strict=True)]


class _ArrayDumper(Dumper):
    """A dumper that passes on the bytes. The statement must name the type."""

    format = Format.BINARY

    def dump(self, obj: Array) -> bytes:
        return obj.encoded


class _ColumnDumper(Dumper):
    """A dumper that encodes a column. The statement must name the type."""

    format = Format.BINARY

    def dump(self, obj: ArrayColumn) -> bytes:
        return array(obj.type_, obj).encoded


adapters.register_dumper(Array, _ArrayDumper)
adapters.register_dumper(ArrayColumn, _ColumnDumper)


class _EncodingCache(dict[Any, bytes]):
    """The encodings of the values of one column. Equal values must have equal encodings."""

    def __init__(self, encode: Callable[[Any], bytes]) -> None:
        self._encode = encode

    def __missing__(self, value: Any) -> bytes:
        encoded_value = self[value] = _NULL if value is None else self._encode(value)
        return encoded_value


def _cached(encode: Callable[[Any], bytes]) -> ColumnEncoder:
    """Return an encoder that encodes each distinct value of a column once."""
    return lambda column: map(_EncodingCache(encode).__getitem__, column)


def _number(format_: str) -> ColumnEncoder:
    packing = Struct(f">i{format_}")
    pack, size = packing.pack, packing.size - 4

    def encode(column: Sequence[Any]) -> Iterable[bytes]:
        if None in column:
            return map(_EncodingCache(lambda value: pack(size, value)).__getitem__, column)
        # Ids and positions rarely repeat, so a cache would not help.
        return map(pack, repeat(size), column)

    return encode


def _documents(column: Sequence[Any]) -> Iterable[bytes]:
    """Encode JSON documents. None becomes NULL, not the JSON value `null`."""
    return (_NULL if value is None else _with_length(b"\1" + orjson.dumps(value)) for value in column)


def _with_length(value: bytes) -> bytes:
    return _LENGTH(len(value)) + value


def _moment(value: Any) -> bytes:
    return _MOMENT(8, _LAST if value == NEVER else (value - _EPOCH) // _MICROSECOND)


def _bits(value: int) -> bytes:
    """Encode a number as the bits of a column of the type bit(2048), the highest one first."""
    return _LENGTH(4 + BITS // 8) + _LENGTH(BITS) + value.to_bytes(BITS // 8, "big")


# Adding 0.0 makes a negative zero positive.
_FLOAT: Final = Struct(">id").pack

_ENCODERS: Final[Mapping[str, ColumnEncoder]] = {
    "text": _cached(lambda value: _with_length(value.encode())),
    "smallint": _number("h"),
    "integer": _number("i"),
    "bigint": _number("q"),
    "boolean": _cached(lambda value: _with_length(bytes((value,)))),
    "double precision": _cached(lambda value: _FLOAT(8, value + 0.0)),
    "timestamptz": _cached(_moment),
    "bytea": lambda column: (_NULL if value is None else _with_length(value) for value in column),
    "jsonb": _documents,
    "bit": lambda column: map(_bits, column),
}

_ELEMENTS: Final = {name: postgres.types[name].oid for name in _ENCODERS}
