"""Reading of Beaker's CSV files: rows with their kinds, files and lines, faults, and ignored columns."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from api.intake.beaker_columns import CSV_TYPE, KINDS, BeakerKind
from api.intake.limits import MAX_MESSAGE_LENGTH
from api.intake.line_faults import GroupedFaults, LineFault, line_fault
from api.intake.near_names import suggestion
from api.intake.systems_csv import MAX_COLUMNS
from domain.errors import Fault, FaultyInput

# Ten rows for each of the systems of a large lab, in all files together.
MAX_ROWS = 300_000


@dataclass(frozen=True)
class BeakerRow:
    """A row: the values of its columns, None for empty cells. `faulty` columns are left out."""

    kind: str
    file: str
    line: int
    values: Mapping[str, Any]
    faulty: frozenset[str] = frozenset()

    def fault(self, column: str, message: str) -> LineFault:
        return line_fault(self.file, self.line, column, message)


@dataclass
class BeakerRows:
    """The rows of all files, their faults, `warnings` about ignored columns, and row counts by kind.

    `row_count` also counts the rows that are of no kind.
    """

    rows: list[BeakerRow] = field(default_factory=list)
    faults: GroupedFaults = field(default_factory=GroupedFaults)
    warnings: list[LineFault] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    row_count: int = 0


def read_files(files: Iterable[tuple[str, str]]) -> BeakerRows:
    """Read files, each a name and a text. Raises FaultyInput for more than MAX_ROWS rows."""
    found = BeakerRows()
    for name, text in files:
        _File(name, found).read(text)
    return found


class _File:
    """The reader of one file, which adds to `found`."""

    def __init__(self, name: str, found: BeakerRows) -> None:
        self._name, self._found = name, found
        # BeakerKind -> its columns in this file; the first line with a value in an ignored column.
        self._columns: dict[str, list[str]] = {}
        self._ignored: dict[str, int] = {}
        self._kinds: dict[str, None] = {}

    def read(self, text: str) -> None:
        lines = _lines(text)
        try:
            _, header = next(lines, (1, []))
            if not self._is_header(header):
                return
            for line, cells in lines:
                self._take(line, header, cells)
        except _Malformed as error:
            self._fault(error.line, "", str(error))
        self._warn_of_columns(header)

    def _is_header(self, header: Sequence[str]) -> bool:
        twice = sorted(name for name, count in Counter(header).items() if count > 1)
        if CSV_TYPE not in header:
            self._fault(1, "", f"has no column {CSV_TYPE}: the first line names the columns")
        elif len(header) > MAX_COLUMNS:
            self._fault(1, "", f"must not have more than {MAX_COLUMNS} columns")
        elif twice:
            self._fault(1, "", f"has columns twice: {', '.join(twice)}")
        else:
            return True
        return False

    def _take(self, line: int, header: Sequence[str], cells: Sequence[str]) -> None:
        # Also of rows with faults: each of them takes memory.
        self._found.row_count += 1
        if self._found.row_count > MAX_ROWS:
            raise FaultyInput([Fault("files", f"must not have more than {MAX_ROWS} rows")])
        if len(cells) != len(header):
            self._fault(line, "", f"has {len(cells)} cells, but line 1 has {len(header)}")
            return
        given = dict(zip(header, cells, strict=True))
        name = given.pop(CSV_TYPE)
        kind = KINDS.get(name)
        if kind is None:
            hint = suggestion(name, KINDS)
            self._fault(
                line, CSV_TYPE, f'"{name[: MAX_MESSAGE_LENGTH // 4]}" is none of {", ".join(KINDS)}{hint}'
            )
            return
        if name not in self._kinds:
            self._kinds[name] = None
            self._require_columns(name, kind, line, given)
        for column in kind.ignored:
            if given.get(column):
                self._ignored.setdefault(column, line)
        self._found.counts[name] += 1
        self._found.rows.append(self._row(name, kind, line, given))

    def _require_columns(self, name: str, kind: BeakerKind, line: int, given: Mapping[str, str]) -> None:
        for column in kind.required:
            if column not in given:
                self._fault(line, column, f"is missing, but rows of kind {name} require it")

    def _row(self, name: str, kind: BeakerKind, line: int, given: Mapping[str, str]) -> BeakerRow:
        values: dict[str, Any] = {}
        faulty: set[str] = {column for column in kind.required if column not in given}
        for column, declared in kind.columns.items():
            cell = given.get(column)
            if cell is None:
                continue
            if not cell and column in kind.required:
                self._fault(line, column, "must not be empty")
                faulty.add(column)
                continue
            try:
                values[column] = declared.cell.read(cell) if cell else None
            except ValueError as error:
                self._fault(line, column, str(error))
                faulty.add(column)
        return BeakerRow(name, self._name, line, values, frozenset(faulty))

    def _warn_of_columns(self, header: Sequence[str]) -> None:
        kinds = [KINDS[name] for name in self._kinds]
        columns = {name for kind in kinds for name in kind.columns}
        reasons = {name: why for kind in kinds for name, why in kind.ignored.items()}
        for name in header:
            if name in columns or name == CSV_TYPE or not kinds:
                continue
            if name in self._ignored:
                self._warn(self._ignored[name], name, f"is not imported: {reasons[name]}")
            elif name not in reasons:
                of = " and ".join(self._kinds)
                hint = suggestion(name, columns)
                self._warn(
                    1, name[: MAX_MESSAGE_LENGTH // 4], f"is not imported: {of} has no such column{hint}"
                )

    def _fault(self, line: int, column: str, message: str) -> None:
        self._found.faults.add(line_fault(self._name, line, column, message))

    def _warn(self, line: int, column: str, message: str) -> None:
        self._found.warnings.append(line_fault(self._name, line, column, message))


class _Malformed(Exception):
    """The text is not CSV from a line on."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line


def _lines(text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows that are not empty, with the number of their first line. Raises _Malformed."""
    lines = csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""), strict=True)
    first = 1
    try:
        for cells in lines:
            if any(cells):
                yield first, cells
            first = lines.line_num + 1
    except csv.Error as error:
        raise _Malformed(first, str(error)) from None
