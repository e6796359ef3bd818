"""Conversion of systems to and from a table (CSV, RFC 4180): one row per system, one column per property.

An empty cell is null, which means unknown; COLUMNS has the format of the other cells.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import orjson

from api.intake.json_text import refuse_duplicate_keys
from api.intake.limits import MAX_MESSAGE_LENGTH
from api.intake.near_names import suggestion
from domain.errors import Fault, FaultyInput, Unreadable

QUOTE, LIST = '"', "["
# Spreadsheets evaluate cells that begin with one of these as formulas.
# They also evaluate them after a line feed, and in the full-width forms of East Asian keyboards.
FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
AS_JSON: Final = (QUOTE, *FORMULA)
# A cell may contain all devices of a system: the maximum size of a body.
csv.field_size_limit(2**24)


class CellKind(NamedTuple):
    """Conversion of values to cells and back, before validation; `read` raises ValueError with a message."""

    write: Callable[[Any], str]
    read: Callable[[str], Any]


def _json(value: Any) -> str:
    return orjson.dumps(value).decode()


def _from_json(cell: str) -> Any:
    try:
        value = orjson.loads(cell)
    except orjson.JSONDecodeError as error:
        raise ValueError(f"is not JSON: {error.msg}") from None
    if cell.startswith((LIST, "{")):
        _refuse_duplicate_keys(cell)
    return value


def _refuse_duplicate_keys(cell: str) -> None:
    try:
        refuse_duplicate_keys(cell)
    except FaultyInput as error:
        raise ValueError(error.faults[0].message) from None


def _number(cell: str) -> Any:
    """Return the number, or any other text unchanged, which the model refuses."""
    try:
        return orjson.loads(cell)
    except orjson.JSONDecodeError:
        return cell


def _flag(cell: str) -> Any:
    """Return the flag, also in capitals as spreadsheets write it, or any other text unchanged."""
    return {"true": True, "false": False}.get(cell.lower(), cell)


def _text(value: str) -> str:
    return _json(value) if not value or value.startswith(AS_JSON) else value


def _from_text(cell: str) -> Any:
    return _from_json(cell) if cell.startswith(QUOTE) else cell


def _words(value: Sequence[str]) -> str:
    joined = " ".join(value)
    is_plain = value and joined.split() == list(value) and not joined.startswith((LIST, *FORMULA))
    return joined if is_plain else _json(value)


def _from_words(cell: str) -> Any:
    return _from_json(cell) if cell.startswith(LIST) else cell.split()


# Plain text; an empty text, and text that begins with a quotation mark or like a formula, as JSON.
TEXT = CellKind(_text, _from_text)
NUMBER = CellKind(_json, _number)
FLAG = CellKind(_json, _flag)
# Words separated by blanks; an empty list, words with blanks, and formulas as JSON.
WORDS = CellKind(_words, _from_words)
# Words separated by blanks; an empty cell is an empty list.
POOLS = CellKind(" ".join, _from_words)
JSON = CellKind(_json, _from_json)

COLUMNS: Final[Mapping[str, CellKind]] = {
    **dict.fromkeys(("fqdn", "lab_controller", "owner", "condition"), TEXT),
    "pools": POOLS,
    "type": TEXT,
    "arches": WORDS,
    **dict.fromkeys(("vendor", "model", "serial", "location", "lender"), TEXT),
    "memory_mb": NUMBER,
    "hypervisor": TEXT,
    "numa_nodes": NUMBER,
    "power_type": TEXT,
    **dict.fromkeys(("cpu.processors", "cpu.cores", "cpu.sockets", "cpu.family", "cpu.model"), NUMBER),
    **dict.fromkeys(("cpu.stepping", "cpu.speed_mhz"), NUMBER),
    **dict.fromkeys(("cpu.vendor", "cpu.model_name"), TEXT),
    "cpu.hyper": FLAG,
    "cpu.flags": WORDS,
    **dict.fromkeys(("devices", "disks", "key_values", "excluded_families"), JSON),
    **dict.fromkeys(("added_at", "last_inventoried_at"), TEXT),
}
# Every system has these properties, so an empty cell leaves them unchanged.
NEVER_UNKNOWN: Final = frozenset({"lab_controller", "owner", "condition", "added_at"})
# Far more than COLUMNS, and few enough to check.
MAX_COLUMNS: Final = 200
CPU: Final = frozenset(name for name in COLUMNS if name.startswith("cpu."))


def write_systems(systems: Iterable[Mapping[str, Any]]) -> str:
    """Return the table with a header row; cells of unknown properties are empty."""
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(COLUMNS)
    for system in systems:
        writer.writerow(_cell(system, name, kind) for name, kind in COLUMNS.items())
    return text.getvalue()


def _cell(system: Mapping[str, Any], name: str, kind: CellKind) -> str:
    record, _, member = name.rpartition(".")
    properties = system.get(record) if record else system
    value = properties.get(member) if properties else None
    return "" if value is None else kind.write(value)


@dataclass
class Table:
    """The `systems` in JSON form, their `rows` as spreadsheets count them, and the `faults` of cells."""

    systems: list[dict[str, Any]] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)


def read_systems(body: bytes, limit: int | None = None) -> Table:
    """Read a table. Raises Unreadable (no UTF-8) or FaultyInput (no CSV, unknown columns, too many rows)."""
    rows = _rows(body)
    _, header = next(rows, (1, []))
    if faults := list(_faults_of(header)):
        raise FaultyInput(faults)
    table = Table()
    non_empty = ((number, cells) for number, cells in rows if any(cells))
    for count, (number, cells) in enumerate(non_empty, start=1):
        if limit is not None and count > limit:
            raise FaultyInput([Fault("body", f"must not have more than {limit} systems")])
        _add(table, number, header, cells)
    return table


def _rows(body: bytes) -> Iterator[tuple[int, list[str]]]:
    """Yield the numbered rows, one at a time, because a large body may consist of empty rows."""
    try:
        text = io.StringIO(body.decode("utf-8-sig"), newline="")
    except UnicodeDecodeError as error:
        raise Unreadable([Fault("body", f"is not UTF-8 at byte {error.start}")]) from None
    lines = csv.reader(text, strict=True)
    try:
        yield from enumerate(lines, start=1)
    except csv.Error as error:
        raise FaultyInput([Fault(f"line {lines.line_num}", str(error))]) from None


def _faults_of(header: Sequence[str]) -> Iterable[Fault]:
    if "fqdn" not in header:
        yield Fault("row 1", "has no column fqdn: the first row names the columns")
    if len(header) > MAX_COLUMNS:
        yield Fault("row 1", f"must not have more than {MAX_COLUMNS} columns")
    names = header[:MAX_COLUMNS]
    if unknown := [_unknown(name) for name in names if name not in COLUMNS]:
        yield Fault("row 1", f"unknown columns: {', '.join(unknown)}")
    for number, name in enumerate(names):
        if name in COLUMNS and name in header[:number]:
            yield Fault(f"row 1, column {name}", "occurs twice")


def _unknown(name: str) -> str:
    hint = suggestion(name, COLUMNS).removeprefix("; ")
    return f"{name[:MAX_MESSAGE_LENGTH]} ({hint})" if hint else name[:MAX_MESSAGE_LENGTH]


def _add(table: Table, number: int, header: Sequence[str], cells: Sequence[str]) -> None:
    if len(cells) != len(header):
        table.faults.append(Fault(f"row {number}", f"has {len(cells)} cells, but row 1 has {len(header)}"))
        return
    system: dict[str, Any] = {}
    for name, cell in zip(header, cells, strict=True):
        try:
            value = _value(name, cell)
        except ValueError as error:
            table.faults.append(Fault(f"row {number}, column {name}", str(error)))
            continue
        record, _, member = name.rpartition(".")
        if record:
            system.setdefault(record, {})[member] = value
        elif value is not None or name not in NEVER_UNKNOWN:
            system[name] = value
    if CPU.issubset(header) and all(value is None for value in system.get("cpu", {}).values()):
        system["cpu"] = None
    table.systems.append(system)
    table.rows.append(number)


def _value(name: str, cell: str) -> Any:
    if cell:
        return COLUMNS[name].read(cell)
    return [] if name == "pools" else None
