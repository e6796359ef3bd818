"""Weights of recipe sets (seed 001, design 5.3), from the locks of the placed recipes."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from decimal import Decimal
from typing import Any, NamedTuple

from replay.audit.cells import SURE, VALUES
from replay.audit.locks import LEVELS, Locks
from replay.audit.placed_locks import PlacedLocks
from replay.audit.scheduler_view import SchedulerView
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


class Weights:
    """The weights of sets at one moment; a change of the world invalidates them."""

    def __init__(self, view: SchedulerView, now: Any) -> None:
        self.settings = settings_of(view.configuration.get("weights", {}))
        self._view = view
        self._now = now
        self._of_holders: dict[int, int] = {}
        self._remaining: dict[Any, int] = {}

    def static(self, set_id: int) -> int:
        """Return the weight of a set before ageing. Its own recipes do not count."""
        number, placed = self._view.profile_number(set_id), self._view.placed
        own = placed.of_set(set_id)
        if own is None:
            return self.of_profile(number)
        if set_id not in self._of_holders:
            profile = self._view.profiles[number]
            self._of_holders[set_id] = static_weight(profile, placed, self.settings, own)
        return self._of_holders[set_id]

    def of_profile(self, number: int) -> int:
        """Return the weight before ageing of the sets of a profile that have no placed recipes."""
        placed = self._view.placed
        version = placed.version, self.settings
        return self._view.profiles.weight(
            number, version, lambda profile: static_weight(profile, placed, self.settings)
        )

    def weight(self, set_id: int) -> int:
        """Return the weight of a set, in thousandths times remaining ticks."""
        return self.static(set_id) * self.remaining_ticks(set_id)

    def remaining_ticks(self, set_id: int) -> int:
        """Return the ticks until a set weighs nothing."""
        submitted = self._view.sets[set_id].recorded_at
        if submitted not in self._remaining:
            self._remaining[submitted] = remaining_ticks(submitted, self._now, self.settings)
        return self._remaining[submitted]


def weights_at(view: SchedulerView, now: Any) -> Weights | None:
    """Return the weights, None if submission alone decides: no set declares locks, or they are disabled."""
    if not view.declaring:
        return None
    weights = Weights(view, now)
    return weights if weights.settings.is_enabled else None
