"""Systems as a table (CSV, RFC 4180): a row for each, a column for each property.

An empty cell is null: unknown. What any other stands for says COLUMNS. All there is to say of a system can be
written and read back, and is the same then.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import orjson

from api.intake.json_text import refuse_equal_keys
from api.intake.limits import WORDS_LENGTH
from api.intake.near_names import meant
from domain.errors import Fault, FaultyInput, Unreadable

QUOTE, LIST = '"', "["
# Spreadsheets take what begins with one of these for a formula, and would work it out.
# Also behind a line feed, and in the full-width forms that East Asian keyboards write.
FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
AS_JSON: Final = (QUOTE, *FORMULA)
# A cell may hold all devices of a system: as long as a body that is read.
csv.field_size_limit(2**24)


class Kind(NamedTuple):
    """How a value that is known is written into a cell, and a cell that is not empty is read.

    `read` raises ValueError, whose text is the fault. What it lets pass the model of a system finds.
    """

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
        _refuse_equal_keys(cell)
    return value


def _refuse_equal_keys(cell: str) -> None:
    try:
        refuse_equal_keys(cell)
    except FaultyInput as wrong:
        raise ValueError(wrong.faults[0].message) from None


def _number(cell: str) -> Any:
    """Of what is none, the model says so."""
    try:
        return orjson.loads(cell)
    except orjson.JSONDecodeError:
        return cell


def _flag(cell: str) -> Any:
    """Spreadsheets write them large."""
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


# As it is; that it is known to be empty, and one that begins with a quotation mark or as a formula, as JSON.
TEXT = Kind(_text, _from_text)
NUMBER = Kind(_json, _number)
FLAG = Kind(_json, _flag)
# With a blank between each; none, such as have blanks in them, and what looks like a formula, as JSON.
WORDS = Kind(_words, _from_words)
# The same where none is what an empty cell says.
POOLS = Kind(" ".join, _from_words)
JSON = Kind(_json, _from_json)

COLUMNS: Final[Mapping[str, Kind]] = {
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
# Every system has these: an empty cell says nothing of them, so that they stay.
NEVER_UNKNOWN: Final = frozenset({"lab_controller", "owner", "condition", "added_at"})
# Far more than there are: nobody looks at what somebody else put into thousands.
MOST_COLUMNS: Final = 200
CPU: Final = frozenset(name for name in COLUMNS if name.startswith("cpu."))


def write_systems(systems: Iterable[Mapping[str, Any]]) -> str:
    """The table, with a line of headings. Of what a system does not say the cell is empty."""
    made = io.StringIO(newline="")
    writer = csv.writer(made)
    writer.writerow(COLUMNS)
    for system in systems:
        writer.writerow(_cell(system, name, kind) for name, kind in COLUMNS.items())
    return made.getvalue()


def _cell(system: Mapping[str, Any], name: str, kind: Kind) -> str:
    record, _, member = name.rpartition(".")
    known = system.get(record) if record else system
    value = known.get(member) if known else None
    return "" if value is None else kind.write(value)


@dataclass
class Table:
    """`systems` as JSON has them, and of each the `rows` where it stands, as spreadsheets count; `faults` are
    what is wrong with cells.
    """

    systems: list[dict[str, Any]] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)


def read_systems(body: bytes, most: int | None = None) -> Table:
    """Raises Unreadable for what is no text, FaultyInput for what is no table, has other columns, or has more
    than `most` rows that say something.
    """
    rows = _rows(body)
    _, header = next(rows, (1, []))
    if faults := list(_faults_of(header)):
        raise FaultyInput(faults)
    table = Table()
    telling = ((number, cells) for number, cells in rows if any(cells))
    for told, (number, cells) in enumerate(telling, start=1):
        if most is not None and told > most:
            raise FaultyInput([Fault("body", f"must not have more than {most} systems")])
        _add(table, number, header, cells)
    return table


def _rows(body: bytes) -> Iterator[tuple[int, list[str]]]:
    """One after the other: of a large body most may be nothing but empty rows."""
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
    if len(header) > MOST_COLUMNS:
        yield Fault("row 1", f"must not have more than {MOST_COLUMNS} columns")
    names = header[:MOST_COLUMNS]
    if unknown := [_unknown(name) for name in names if name not in COLUMNS]:
        yield Fault("row 1", f"unknown columns: {', '.join(unknown)}")
    for number, name in enumerate(names):
        if name in COLUMNS and name in header[:number]:
            yield Fault(f"row 1, column {name}", "occurs twice")


def _unknown(name: str) -> str:
    near = meant(name, COLUMNS).removeprefix("; ")
    return f"{name[:WORDS_LENGTH]} ({near})" if near else name[:WORDS_LENGTH]


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
