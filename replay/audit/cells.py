"""The table of cells (seed 001, design 5.3): how much a lock weighs beside that of a placed recipe."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from replay.audit.locks import LevelLock, Part

KINDS = (
    "None",
    "Shared",
    "UnknownShared",
    "AllShared",
    "Exclusive",
    "UnknownExclusive",
    "AllExclusive",
)

# The seed's numbers by name, in thousandths. The configuration may change them.
VALUES = {"none": 0, "degrade": 300, "heavy_degrade": 500, "maybe": 1_500, "sure": 3_000}

NO, DEGRADE, HEAVY, MAYBE, SURE = VALUES
Cell = str | tuple[str, str]
"""The name of a value; two names if it depends on whether the locks have a name in common (the first)."""

# Kind of the waiting lock -> cells beside the kinds of the lock of a placed recipe, in the order of `KINDS`.
TABLE: dict[str, tuple[Cell, ...]] = {
    "None": (NO, NO, NO, NO, NO, NO, NO),
    "Shared": (DEGRADE, NO, NO, NO, (SURE, DEGRADE), MAYBE, SURE),
    "UnknownShared": (DEGRADE, DEGRADE, DEGRADE, DEGRADE, MAYBE, MAYBE, SURE),
    "AllShared": (DEGRADE, DEGRADE, DEGRADE, DEGRADE, SURE, SURE, SURE),
    "Exclusive": (HEAVY, (SURE, HEAVY), MAYBE, SURE, (SURE, HEAVY), MAYBE, SURE),
    "UnknownExclusive": (HEAVY, MAYBE, MAYBE, SURE, MAYBE, MAYBE, SURE),
    "AllExclusive": (HEAVY, SURE, SURE, SURE, SURE, SURE, SURE),
}


def cell_value(waiting: LevelLock, placed: LevelLock, values: Mapping[str, int]) -> int:
    """Return the worst cell over the parts of two locks."""
    return max(
        _value(TABLE[row][KINDS.index(column)], names, others, values)
        for row, names in kinds_of(waiting)
        for column, others in kinds_of(placed)
    )


def _value(cell: Cell, names: Part, others: Part, values: Mapping[str, int]) -> int:
    if isinstance(cell, str):
        return values[cell]
    # Only a cell of two kinds with names depends on these.
    return values[cell[0] if set(names) & set(others) else cell[1]]


def kinds_of(lock: LevelLock) -> Iterator[tuple[str, Part]]:
    """Yield the kind of each part of a lock, and the part."""
    for mode, part in zip(("Shared", "Exclusive"), lock, strict=True):
        if part:
            yield (mode if isinstance(part, frozenset) else part + mode), part
    if not any(lock):
        yield "None", frozenset()
