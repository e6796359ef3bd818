"""Faults at lines of files; equal ones of several lines become one fault with all of these lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from api.intake.limits import MAX_FAULTS, MAX_MESSAGE_LENGTH
from domain.errors import Fault, listed

# The lines of a fault that its location names; the others are counted.
MAX_LINES = 10


@dataclass(frozen=True)
class LineFault(Fault):
    """A fault at a line of a file and, unless it is of the whole line, in a column."""

    file: str = ""
    line: int = 0
    column: str = ""


def line_fault(file: str, line: int, column: str, message: str) -> LineFault:
    where = _location(file, [line], column)
    return LineFault(where, message[:MAX_MESSAGE_LENGTH], file, line, column)


def grouped(faults: Iterable[Fault]) -> list[Fault]:
    """Return the faults by file and line, equal ones of a column once, at most MAX_FAULTS and a count.

    Other faults come last.
    """
    lines: dict[tuple[str, str, str], dict[int, None]] = {}
    others: dict[Fault, None] = {}
    files: dict[str, int] = {}
    for fault in faults:
        if isinstance(fault, LineFault):
            files.setdefault(fault.file, len(files))
            lines.setdefault((fault.file, fault.column, fault.message), {})[fault.line] = None
        else:
            others[fault] = None
    located = [
        (files[file], min(found), Fault(_location(file, sorted(found), column), message))
        for (file, column, message), found in lines.items()
    ]
    ordered = [fault for *_, fault in sorted(located, key=lambda found: found[:2])] + list(others)
    more = len(ordered) - MAX_FAULTS
    return ordered if more <= 0 else [*ordered[:MAX_FAULTS], Fault("body", f"and {more} more")]


def _location(file: str, lines: list[int], column: str) -> str:
    numbers = listed(list(_ranges(lines)), MAX_LINES)
    where = f"{file}, {'line' if len(lines) == 1 else 'lines'} {numbers}"
    return (f"{where}, column {column}" if column else where)[:MAX_MESSAGE_LENGTH]


def _ranges(lines: Sequence[int]) -> Iterator[str]:
    """Yield sorted numbers such as `7`, and three or more in a row as `7-9`."""
    for _, run in groupby(enumerate(lines), key=lambda numbered: numbered[1] - numbered[0]):
        numbers = [number for _, number in run]
        if len(numbers) > 2:
            yield f"{numbers[0]}-{numbers[-1]}"
        else:
            yield from map(str, numbers)
