"""Changed systems for which filters must be re-evaluated, and the filters that the changes affect."""

from __future__ import annotations

from collections.abc import Mapping

from domain.requirements import from_text, properties
from domain.scheduling.bitsets.bitmaps import numbers_in, union
from domain.scheduling.demand.demand_counts import FilterEntry


class Changes:
    """Changed systems and properties. Mutable. Filters are given by number.

    Changes accumulate until the next query, because many at a time cost little more than one. The properties
    that a filter names are looked up at the first `take` that needs them.
    """

    def __init__(self) -> None:
        self.systems = 0
        self._concerns_all = False
        self._properties: dict[str, None] = {}
        self._naming: dict[str, int] = {}
        self._looked_up = 0

    def note(self, number: int, changed: frozenset[str] | None) -> None:
        """Record the changed properties of a system; None if the change affects every filter."""
        if changed is None:
            self._concerns_all = True
        elif not changed:
            return
        else:
            self._properties.update(dict.fromkeys(sorted(changed)))
        self.systems |= 1 << number

    def gone(self, filters: int) -> None:
        """Drop filters, whose numbers may be reused for others."""
        self._looked_up &= ~filters
        for name in self._naming:
            self._naming[name] &= ~filters

    def take(self, evaluated: int, entries: Mapping[int, FilterEntry]) -> tuple[int, int]:
        """Return the changed systems and those of the `evaluated` filters that are affected, and reset."""
        systems, concerned = self.systems, evaluated
        if not self._concerns_all:
            self._look_up(evaluated & ~self._looked_up, entries)
            concerned &= union(self._naming.get(name, 0) for name in self._properties)
        self.systems, self._concerns_all = 0, False
        self._properties.clear()
        return systems, concerned

    def _look_up(self, filters: int, entries: Mapping[int, FilterEntry]) -> None:
        for number in numbers_in(filters):
            for name in sorted(properties(from_text(entries[number].key.host_requires))):
                self._naming[name] = self._naming.get(name, 0) | 1 << number
        self._looked_up |= filters
