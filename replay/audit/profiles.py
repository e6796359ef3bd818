"""The distinct profiles of recipe sets (design 5.3), by number, and their weights before ageing."""

from __future__ import annotations

from collections.abc import Callable

from replay.audit.locks import NO_LOCKS, Locks


class Profiles:
    """The profiles of sets. Mutable. The profile without locks has the number 0."""

    def __init__(self) -> None:
        self._profiles = [NO_LOCKS]
        self._numbers = {NO_LOCKS: 0}
        self._weights: dict[int, int] = {}
        self._weighed_at: object = None

    def __getitem__(self, number: int) -> Locks:
        return self._profiles[number]

    def number(self, profile: Locks) -> int:
        """Return the number of a profile, a new one if no set had it."""
        number = self._numbers.setdefault(profile, len(self._profiles))
        if number == len(self._profiles):
            self._profiles.append(profile)
        return number

    def weight(self, number: int, version: object, weigh: Callable[[Locks], int]) -> int:
        """Return the weight of a profile, which `weigh` computes once for each `version`."""
        if self._weighed_at != version:
            self._weighed_at, self._weights = version, {}
        if number not in self._weights:
            self._weights[number] = weigh(self._profiles[number])
        return self._weights[number]
