"""The settings of weights, and the formulas of static weight and age (seed 001, design 5.3)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from decimal import Decimal
from typing import Any, NamedTuple

from replay.audit.cells import SURE, VALUES
from replay.audit.locks import LEVELS, Locks
from replay.audit.placed_locks import PlacedLocks
from replay.audit.times import time_of


class ConfiguredWeights(NamedTuple):
    """The settings of weights: `base` and `values` in thousandths, and K in ticks."""

    is_enabled: bool
    base: int
    values: Mapping[str, int]
    tick: timedelta
    ticks: int


def settings_of(section: Mapping[str, Any]) -> ConfiguredWeights:
    """Return the settings in the section `weights` of a configuration, with defaults for missing ones."""
    given = {name: _thousandths(value) for name, value in section.get("values", {}).items()}
    return ConfiguredWeights(
        section.get("enabled", True),
        _thousandths(section.get("base", 1)),
        {**VALUES, **given},
        timedelta(milliseconds=_thousandths(section.get("tick_seconds", 30))),
        section.get("coefficient", 30),
    )


def _thousandths(number: float) -> int:
    """Return a number as it is written, exactly."""
    return int(Decimal(str(number)) * 1_000)


def static_weight(
    profile: Locks, placed: PlacedLocks, settings: ConfiguredWeights, own: PlacedLocks | None = None
) -> int:
    """Return the weight before ageing of a set with these merged locks, in thousandths.

    `own` has those of the placed recipes that belong to the set. They do not count.
    """
    if profile.whole_lab:
        return settings.base + len(LEVELS) * settings.values[SURE]
    cells = (placed.cells(level, lock, own) for level, lock in enumerate(profile.levels))
    return settings.base + sum(max((settings.values[cell] for cell in each), default=0) for each in cells)


def remaining_ticks(submitted: Any, now: Any, settings: ConfiguredWeights) -> int:
    """Return the ticks until a set weighs nothing; a set whose age is unknown has all of them."""
    since, at = time_of(submitted), time_of(now)
    if since is None or at is None:
        return settings.ticks
    return max(0, settings.ticks - max(0, (at - since) // settings.tick))
