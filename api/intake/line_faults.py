"""Faults at lines of files; equal ones of several lines become one fault with all of these lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from copy import deepcopy
from dataclasses import dataclass, field

from api.intake.limits import MAX_FAULTS, MAX_MESSAGE_LENGTH
from domain.errors import Fault

# The runs of lines of a fault that its location names; the others are counted.
MAX_LINES = 10
# Files may have a fault in each of hundreds of thousands of cells. These are kept, and the others counted:
# different faults, and runs of lines of each. They are more than are shown, because faults are sorted later.
MAX_DIFFERENT = 1_000
MAX_RUNS = 100


@dataclass(frozen=True)
class LineFault(Fault):
    """A fault at a line of a file and, unless it is of the whole line, in a column."""

    file: str = ""
    line: int = 0
    column: str = ""


def line_fault(file: str, line: int, column: str, message: str) -> LineFault:
    where = _location(file, Lines([(line, line)]), column)
    return LineFault(where, message[:MAX_MESSAGE_LENGTH], file, line, column)


@dataclass
class Lines:
    """Line numbers as runs of consecutive ones, at most MAX_RUNS and a count of other lines. Mutable."""

    runs: list[tuple[int, int]] = field(default_factory=list)
    other_count: int = 0

    def add(self, line: int) -> None:
        """Add a line; it costs no memory if it continues the last run, in either direction."""
        first, last = self.runs[-1] if self.runs else (line, line)
        if self.runs and first - 1 <= line <= last + 1:
            self.runs[-1] = min(first, line), max(last, line)
        elif len(self.runs) < MAX_RUNS:
            self.runs.append((line, line))
        else:
            self.other_count += 1

    @property
    def first(self) -> int:
        return min(first for first, _ in self.runs)

    def words(self) -> str:
        """Return text such as `line 7` or `lines 3, 5-7`, with the number of runs and lines left out."""
        numbers = [*_written(_joined(self.runs))]
        more = max(0, len(numbers) - MAX_LINES) + self.other_count
        word = "line" if self.runs == [(self.first, self.first)] and not more else "lines"
        return f"{word} {', '.join(numbers[:MAX_LINES])}" + (f" and {more} more" if more else "")


class GroupedFaults:
    """Faults as they are found, equal ones of a column once with all lines. Mutable.

    However many are added, it takes the memory of MAX_DIFFERENT different ones, and counts the others.
    """

    def __init__(self) -> None:
        self._lines: dict[tuple[str, str, str], Lines] = {}
        self._others: dict[Fault, None] = {}
        self._left_out_count = 0

    def add(self, fault: Fault) -> None:
        is_full = len(self._lines) + len(self._others) >= MAX_DIFFERENT
        if isinstance(fault, LineFault):
            key = fault.file, fault.column, fault.message
            if key in self._lines or not is_full:
                self._lines.setdefault(key, Lines()).add(fault.line)
                return
        elif fault in self._others or not is_full:
            self._others[fault] = None
            return
        self._left_out_count += 1

    def listed(self) -> list[Fault]:
        """Return the faults by file and line, at most MAX_FAULTS and a count. Those of no line come last."""
        files = {file: place for place, file in enumerate(dict.fromkeys(file for file, *_ in self._lines))}
        located = [
            (files[file], lines.first, Fault(_location(file, lines, column), message))
            for (file, column, message), lines in self._lines.items()
        ]
        in_order = sorted(located, key=lambda found: found[:2])
        ordered = [*(fault for *_, fault in in_order), *self._others]
        more = max(0, len(ordered) - MAX_FAULTS) + self._left_out_count
        return [*ordered[:MAX_FAULTS], *([Fault("body", f"and {more} more")] if more else [])]


def grouped(faults: Iterable[Fault], earlier: GroupedFaults | None = None) -> list[Fault]:
    """Return `GroupedFaults.listed` of these faults, after `earlier` ones."""
    found = GroupedFaults() if earlier is None else deepcopy(earlier)
    for fault in faults:
        found.add(fault)
    return found.listed()


def _location(file: str, lines: Lines, column: str) -> str:
    where = f"{file}, {lines.words()}"
    return (f"{where}, column {column}" if column else where)[:MAX_MESSAGE_LENGTH]


def _joined(runs: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the runs in order, those that touch or overlap as one."""
    joined: list[tuple[int, int]] = []
    for first, last in sorted(runs):
        if joined and first <= joined[-1][1] + 1:
            joined[-1] = joined[-1][0], max(joined[-1][1], last)
        else:
            joined.append((first, last))
    return joined


def _written(runs: Iterable[tuple[int, int]]) -> Iterator[str]:
    """Yield the numbers of sorted runs such as `7`, and three or more in a row as `7-9`."""
    for first, last in runs:
        if last - first > 1:
            yield f"{first}-{last}"
        else:
            yield from map(str, range(first, last + 1))
