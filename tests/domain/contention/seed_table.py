"""The table of seed 001 and its formula, read from the text of the seed and computed by plain search."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path

from domain.contention.locks import ALL, UNKNOWN, LevelLock, Locks, Part

HEAD, *ROWS = (
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in Path(__file__).with_name("seed_001_table.txt").read_text().splitlines()
)
SEED_KINDS = [kind.removesuffix("(j)") for kind in HEAD[1:]]
TEXTS = {
    (row[0].removesuffix("(i)"), kind): text
    for row in ROWS
    for kind, text in zip(SEED_KINDS, row[1:], strict=True)
}
"""The text of each cell by the kind of the waiting lock and of the held lock."""

_CHOICE = re.compile(r"if j=i then (\S+) else (\S+)")
_PREFIXES: dict[str, Part] = {"Unknown": UNKNOWN, "All": ALL}


def seed_cell(waiting: str, held: str, is_meeting: bool) -> Decimal:
    """Return the number of a cell for locks with or without a name in common."""
    text = TEXTS[waiting, held]
    if choice := _CHOICE.fullmatch(text):
        text = choice[1] if is_meeting else choice[2]
    return Decimal(text)


def lock_of(kind: str, *names: str) -> LevelLock:
    """Return a lock of a kind of the seed."""
    if kind.endswith("Shared"):
        return LevelLock(shared=_PREFIXES.get(kind.removesuffix("Shared"), names))
    if kind.endswith("Exclusive"):
        return LevelLock(exclusive=_PREFIXES.get(kind.removesuffix("Exclusive"), names))
    return LevelLock()


def plain_cells(locks: Locks, held: Sequence[Locks]) -> tuple[Decimal, ...]:
    """Return for each level the greatest number over all placed recipes and all parts of locks."""
    if locks.whole_lab:
        return (Decimal(3),) * 5
    return tuple(
        max([Decimal(0), *(_greatest(waiting, one, level) for one in held)])
        for level, waiting in enumerate(locks.levels)
    )


def _greatest(waiting: LevelLock, held: Locks, level: int) -> Decimal:
    held_lock = lock_of("AllExclusive") if held.whole_lab else held.levels[level]
    return max(
        seed_cell(row, column, not set(names).isdisjoint(held_names))
        for row, names in _kinds(waiting)
        for column, held_names in _kinds(held_lock)
    )


def _kinds(lock: LevelLock) -> list[tuple[str, tuple[str, ...]]]:
    """Return the kind and the names of each part."""
    found: list[tuple[str, tuple[str, ...]]] = []
    for part, mode in zip(lock, ("Shared", "Exclusive"), strict=True):
        if isinstance(part, str):
            found.append((part + mode, ()))
        elif part:
            found.append((mode, part))
    return found or [("None", ())]
