"""The distinct profiles of recipe sets (design 5.3), by number, and their weights before ageing."""

from __future__ import annotations

from collections import defaultdict

from replay.audit.locks import NO_LOCKS, LevelLock, Locks
from replay.audit.placed_locks import PlacedLocks
from replay.audit.weight_formula import ConfiguredWeights, static_weight


class Profiles:
    """The profiles of sets, and their weights beside `placed`. Mutable.

    The profile without locks has the number 0.
    """

    def __init__(self, placed: PlacedLocks) -> None:
        self._placed = placed
        self._profiles = [NO_LOCKS]
        self._numbers = {NO_LOCKS: 0}
        # The profiles that have a lock at any level; and the weights that are still valid, by profile.
        self._with_lock = defaultdict[LevelLock, set[int]](set)
        self._weights: dict[int, int] = {}
        self._version: int | None = None
        self._settings: ConfiguredWeights | None = None

    def __getitem__(self, number: int) -> Locks:
        return self._profiles[number]

    def number(self, profile: Locks) -> int:
        """Return the number of a profile, a new one if no set had it."""
        number = self._numbers.setdefault(profile, len(self._profiles))
        if number == len(self._profiles):
            self._profiles.append(profile)
            for lock in profile.levels:
                self._with_lock[lock].add(number)
        return number

    def weight(self, number: int, settings: ConfiguredWeights) -> int:
        """Return the weight of a profile before ageing, in thousandths."""
        self._drop_changed(settings)
        weight = self._weights.get(number)
        if weight is None:
            weight = self._weights[number] = static_weight(self._profiles[number], self._placed, settings)
        return weight

    def _drop_changed(self, settings: ConfiguredWeights) -> None:
        """Drop the weights that may have changed."""
        placed = self._placed
        if placed.version != self._version or settings != self._settings:
            self._weights = {}
            placed.changed.clear()
        # Most settings are this object, which is compared faster than an equal one.
        self._version, self._settings = placed.version, settings
        while placed.changed:
            for number in self._with_lock[placed.changed.pop()]:
                self._weights.pop(number, None)
