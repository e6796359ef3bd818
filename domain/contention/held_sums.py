"""Sums of the locks that placed recipes hold: the worst cells of a profile without a pass over the recipes.

For each level the sums count the recipes that hold each kind of lock, and the recipes that hold each name.
The held kinds give the worst cell of each row of the table. A name in common gives the worst cell of the
whole table.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, TypeAlias

from domain.contention.cells import (
    BEST,
    CELLS,
    EXCLUSIVE_KIND,
    KINDS,
    SHARED_KIND,
    WORST,
    Cell,
    kind_of,
    parts,
)
from domain.contention.locks import LEVELS, LevelLock, Locks, Part
from domain.contention.weights import WHOLE_LAB_CELLS, Cells, counted_levels

# Time in µs for locks at five levels, beside 0 to 10,000 placed recipes (CPython 3.11):
#   worst_cells 3   with own recipes 14   add, remove 16   keys_of 8

SumKey: TypeAlias = tuple[int, int] | tuple[int, int, str]
"""A sum on which profiles depend: (level, row) or (level, row, name), with level and row as numbers."""

_KINDS: Final = range(len(KINDS))


def _apart(row: int, held: int) -> Cell:
    """Return the worst cell of a row beside the kinds of the bitmap `held`, without a common name."""
    return max((CELLS[row][kind].apart for kind in _KINDS if held >> kind & 1), default=BEST)


_ROWS: Final = tuple(tuple(_apart(row, held) for row in _KINDS) for held in range(1 << len(KINDS)))
"""The worst cells of all rows, by the bitmap of held kinds."""

_MEETING: Final = tuple(
    tuple(row for row in _KINDS if CELLS[row][held].meeting > CELLS[row][held].apart) for held in _KINDS
)
"""The rows for which a name in common with a held lock matters, by the kind of the held lock."""


class HeldSums:
    """Sums of placed recipes. A change takes time for its locks, not for recipes or profiles. Mutable."""

    def __init__(self, held: Iterable[Locks] = ()) -> None:
        self._levels = list(map(_LevelSums, range(len(LEVELS))))
        for locks in held:
            self.add(locks)

    def add(self, locks: Locks) -> tuple[SumKey, ...]:
        """Count a placed recipe, and return the changed sums; `keys_of` tells which profiles they concern."""
        return self._count(locks, 1)

    def remove(self, locks: Locks) -> tuple[SumKey, ...]:
        """Remove a placed recipe, as `add` counted it; raise ValueError if no recipe has these locks."""
        return self._count(locks, -1)

    def _count(self, locks: Locks, step: int) -> tuple[SumKey, ...]:
        by_level = zip(self._levels, counted_levels(locks), strict=True)
        return tuple([key for sums, lock in by_level for key in sums.count(lock, step)])

    def worst_cells(self, locks: Locks, own: HeldSums | None = None) -> Cells:
        """Return the worst cells of a profile beside all placed recipes, without those in `own`."""
        if locks.whole_lab:
            return WHOLE_LAB_CELLS
        if own is None:
            return tuple(map(_LevelSums.worst, self._levels, locks.levels))
        return tuple(map(_LevelSums.worst_without, self._levels, locks.levels, own._levels))

    def cell(self, level: int, lock: LevelLock) -> Cell:
        """Return the worst cell of one level."""
        return self._levels[level].worst(lock)


def keys_of(locks: Locks) -> tuple[SumKey, ...]:
    """Return the sums on which the worst cells of a profile depend; none for the whole-lab lock."""
    levels = () if locks.whole_lab else locks.levels
    return tuple(key for level, lock in enumerate(levels) for key in _level_keys(level, lock))


def _level_keys(level: int, lock: LevelLock) -> Iterator[SumKey]:
    for row, part in parts(lock):
        if part:
            yield level, row
        if isinstance(part, tuple):
            yield from ((level, row, name) for name in part)


class _LevelSums:
    """Sums of one level: the number of recipes by kind, and by row the held names that matter to the row."""

    __slots__ = ("_counts", "_held", "_level", "_names", "_rows")

    def __init__(self, level: int) -> None:
        self._level = level
        self._counts = [0] * len(KINDS)
        self._names: list[dict[str, int]] = [{} for _ in KINDS]
        # Bitmap of the kinds that are held, and the worst cell of each row beside them.
        self._held = 0
        self._rows = _ROWS[0]

    def worst(self, lock: LevelLock) -> Cell:
        # A loop over `parts` would take twice as long.
        shared, exclusive = lock
        worst = self._worst(SHARED_KIND, shared) if shared else BEST
        return max(worst, self._worst(EXCLUSIVE_KIND, exclusive)) if exclusive else worst

    def _worst(self, named: int, part: Part) -> Cell:
        if not isinstance(part, tuple):
            return self._rows[kind_of(named, part)]
        held = self._names[named]
        for name in part:
            if name in held:
                return WORST
        return self._rows[named]

    def worst_without(self, lock: LevelLock, own: _LevelSums) -> Cell:
        held = self._held
        for kind in _KINDS:
            if own._counts[kind] and self._counts[kind] == own._counts[kind]:
                held &= ~(1 << kind)
        return max(
            WORST if self._holds_others(row, part, own) else _ROWS[held][row] for row, part in parts(lock)
        )

    def _holds_others(self, row: int, part: Part, own: _LevelSums) -> bool:
        """Return whether a recipe that is not in `own` holds one of the names."""
        held, own_held = self._names[row], own._names[row]
        return isinstance(part, tuple) and any(held.get(name, 0) > own_held.get(name, 0) for name in part)

    def count(self, lock: LevelLock, step: int) -> list[SumKey]:
        """Add a held lock (1) or remove it (-1), and return the changed sums."""
        before, changed = self._rows, list[SumKey]()
        for kind, part in parts(lock):
            count = self._counts[kind] = _changed(self._counts[kind], step)
            self._held = self._held | 1 << kind if count else self._held & ~(1 << kind)
            for row in _MEETING[kind]:
                changed += [(self._level, row, name) for name in part if self._count_name(row, name, step)]
        self._rows = after = _ROWS[self._held]
        if after is not before:
            changed += [(self._level, row) for row in _KINDS if after[row] != before[row]]
        return changed

    def _count_name(self, row: int, name: str, step: int) -> bool:
        """Count a name, and return whether it became held or is no longer held."""
        names = self._names[row]
        before = names.get(name, 0)
        after = _changed(before, step)
        if after:
            names[name] = after
        else:
            del names[name]
        return not before or not after


def _changed(count: int, step: int) -> int:
    if count + step < 0:
        raise ValueError("no recipe has these locks")
    return count + step
