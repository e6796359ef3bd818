"""Predicted contention of a recipe set: its weight in thousandths, from the worst cells and its age.

A weight is a whole number, so that equal weights are equal on every machine.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final, NamedTuple, TypeAlias

from domain.contention.cells import BEST, WORST, Cell, cell
from domain.contention.locks import ALL_EXCLUSIVE, LEVELS, LevelLock, Locks

Cells: TypeAlias = tuple[Cell, ...]
"""The worst cell of each level, in the order of `LEVELS`."""

NO_CONTENTION: Final[Cells] = (BEST,) * len(LEVELS)
WHOLE_LAB_CELLS: Final[Cells] = (WORST,) * len(LEVELS)
_WHOLE_LAB_LEVELS: Final = (ALL_EXCLUSIVE,) * len(LEVELS)


class WeightValues(NamedTuple):
    """The values of cells, in thousandths, by the names and in the order of `VALUES`; they ascend.

    Since they ascend, the worst cell of a level is also the one with the greatest value, so that further
    placed recipes never make a set lighter.
    """

    none: int = 0
    degrade: int = 300
    heavy_degrade: int = 500
    maybe: int = 1_500
    sure: int = 3_000


class WeightSettings(NamedTuple):
    """Settings of the weight: `base` and `values` in thousandths, and the length of a tick.

    A set that has waited `coefficient` ticks (K) weighs 0.
    """

    is_enabled: bool = True
    base: int = 1_000
    values: WeightValues = WeightValues()
    tick_milliseconds: int = 30_000
    coefficient: int = 30


def counted_levels(held: Locks) -> tuple[LevelLock, ...]:
    """Return the locks as they count for others: the whole-lab lock counts as AllExclusive at every level."""
    return _WHOLE_LAB_LEVELS if held.whole_lab else held.levels


def cells_beside(locks: Locks, held: Locks) -> Cells:
    """Return the cells beside one placed recipe; a waiting whole-lab lock has the worst cell everywhere."""
    if locks.whole_lab:
        return WHOLE_LAB_CELLS
    return tuple(map(cell, locks.levels, counted_levels(held)))


def worst_cells(locks: Locks, held: Iterable[Locks]) -> Cells:
    """Return the worst cells beside all placed recipes, one by one; `HeldSums` does it without a pass."""
    if locks.whole_lab:
        return WHOLE_LAB_CELLS
    beside_each = (cells_beside(locks, one) for one in held)
    return tuple(map(max, zip(NO_CONTENTION, *beside_each, strict=True)))


def static_weight(cells: Cells, settings: WeightSettings) -> int:
    """Return the weight before ageing, in thousandths."""
    return settings.base + sum([settings.values[found] for found in cells])


def ticks(recorded_at: datetime, now: datetime, tick_milliseconds: int) -> int:
    """Return the whole ticks since the submission; 0 if the clock stepped back behind that."""
    return max(0, (now - recorded_at) // timedelta(milliseconds=tick_milliseconds))


def aged_weight(static: int, age_ticks: int, coefficient: int) -> int:
    """Return the weight for comparisons: thousandths times the remaining ticks, at most `coefficient`."""
    return static * max(0, coefficient - max(0, age_ticks))


def order_weight(static: int, age_ticks: int, settings: WeightSettings) -> int:
    """Return the aged weight for the order of sets: 0 for all if weights are switched off."""
    return aged_weight(static, age_ticks, settings.coefficient) if settings.is_enabled else 0


def shown_weight(aged: int, coefficient: int) -> float:
    """Return an aged weight as people see it, such as 4.3; never compare it."""
    return aged / (1_000 * coefficient)


def shown_thousandths(thousandths: int) -> float:
    """Return a static weight or the value of a cell as people see it."""
    return thousandths / 1_000


def shown_cells(cells: Cells, settings: WeightSettings) -> dict[str, float]:
    """Return the value of the worst cell of each level, as people see it."""
    values = (shown_thousandths(settings.values[found]) for found in cells)
    return dict(zip(LEVELS, values, strict=True))
