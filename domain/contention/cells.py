"""The table of seed 001: how strongly a waiting lock conflicts with a held lock of the same level.

`cells.json` has a row for each kind of the waiting lock, with a cell for each kind of the held lock. A cell
names one of five values, or two: the first if the locks have a name in common, the other if they have none.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.resources import files
from typing import Any, Final, NamedTuple, TypeAlias

from domain.contention.locks import NO_LOCK, UNKNOWN, LevelLock, Part

Cell: TypeAlias = int
"""The severity of a cell: an index of `VALUES`, which ascend. The worst of several cells is the greatest."""

_TABLE: Final[dict[str, Any]] = json.loads(files(__package__).joinpath("cells.json").read_text("utf-8"))

VALUES: Final[tuple[str, ...]] = tuple(_TABLE["values"])
KINDS: Final[tuple[str, ...]] = tuple(_TABLE["kinds"])
BEST: Final[Cell] = 0
WORST: Final[Cell] = len(VALUES) - 1

NO_KIND: Final = KINDS.index("None")
SHARED_KIND: Final = KINDS.index("Shared")
EXCLUSIVE_KIND: Final = KINDS.index("Exclusive")


class TableCell(NamedTuple):
    """A cell of the table, with its values for locks with and without a name in common."""

    apart: Cell
    meeting: Cell


def _table_cell(form: str | dict[str, str]) -> TableCell:
    apart, meeting = (form["else"], form["meet"]) if isinstance(form, dict) else (form, form)
    return TableCell(VALUES.index(apart), VALUES.index(meeting))


CELLS: Final = tuple(tuple(map(_table_cell, _TABLE["rows"][kind])) for kind in KINDS)
"""The 49 cells by row (waiting lock) and column (held lock), in the order of `KINDS`."""


def parts(lock: LevelLock) -> Iterator[tuple[int, Part]]:
    """Yield the kind and names of each part of a lock; a lock without parts is of the kind None."""
    shared, exclusive = lock
    if shared:
        yield kind_of(SHARED_KIND, shared), shared
    if exclusive:
        yield kind_of(EXCLUSIVE_KIND, exclusive), exclusive
    if lock == NO_LOCK:
        yield NO_KIND, ()


def kind_of(named: int, part: Part) -> int:
    """Return the kind of a part whose mode is that of `named`, Shared or Exclusive."""
    if isinstance(part, tuple):
        return named
    return named + (1 if part == UNKNOWN else 2)


def cell(waiting: LevelLock, held: LevelLock) -> Cell:
    """Return the worst cell over the parts of a waiting and a held lock."""
    return max(
        _cell_of_parts(CELLS[row][column], names, held_names)
        for row, names in parts(waiting)
        for column, held_names in parts(held)
    )


def _cell_of_parts(found: TableCell, names: Part, held_names: Part) -> Cell:
    # Only the cells of two kinds with names have two values.
    is_meeting = found.meeting != found.apart and not set(names).isdisjoint(held_names)
    return found.meeting if is_meeting else found.apart
