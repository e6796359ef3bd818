"""Amounts that callers use at present: requests, bytes."""

from __future__ import annotations

from collections import Counter

from api.shared_numbers import UNSHARED, ReportedNumbers

# No caller has this name.
_ALL = "\0all"


class Amounts:
    """Amounts by caller. Mutable; for one event loop.

    The processes report theirs to each other under `name` in `shared`.
    """

    def __init__(self, name: str = "", shared: ReportedNumbers = UNSHARED) -> None:
        self._own = Counter[str]()
        self._name = name
        self._shared = shared

    def __bool__(self) -> bool:
        """Return whether a caller uses anything in this process."""
        return bool(self._own)

    def own(self, caller: str) -> int:
        """Return what a caller uses in this process."""
        return self._own[caller]

    def of(self, caller: str) -> int:
        return self._own[caller] + self._of_others(caller)

    def total(self) -> int:
        return self._own.total() + self._of_others(_ALL)

    def add(self, caller: str, amount: int) -> None:
        """Add an amount, negative to give it back."""
        self._own[caller] += amount
        self._shared.put(self._name + caller, self._own[caller])
        if not self._own[caller]:
            del self._own[caller]
        self._shared.put(self._name + _ALL, self._own.total())

    def _of_others(self, caller: str) -> int:
        return sum(self._shared.of_others(self._name + caller))
