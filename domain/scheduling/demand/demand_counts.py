"""The number of unplaced recipes that could use each system.

The counts are computed only for a query, because recipes come and go far more often.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from domain.scheduling.bitsets.bit_sliced import BitSlicedNumbers
from domain.scheduling.demand.submitters import Submitters
from domain.scheduling.supply.access import AccessIndex
from domain.scheduling.supply.filter_key import FilterKey


@dataclass
class FilterEntry:
    """A filter and the number of its unplaced recipes, by submitter number.

    `fitting` is the bitmap of the systems that fit the filter; None until it is evaluated.
    """

    key: FilterKey
    number: int
    fitting: int | None = None
    unplaced: dict[int, int] = field(default_factory=dict)


class DemandCounts:
    """Counts for evaluated filters, by filter number; `entries` are all filters. Mutable."""

    def __init__(
        self, access: AccessIndex, submitters: Submitters, entries: Mapping[int, FilterEntry]
    ) -> None:
        self._access = access
        self._submitters = submitters
        self._entries = entries
        self._numbers = BitSlicedNumbers()
        # The number of recipes counted on their systems, by filter and submitter; and the pairs whose count
        # has changed.
        self._counted: dict[int, dict[int, int]] = {}
        self._miscounted: dict[tuple[int, int], None] = {}
        # The versions of access and submitter numbers at which the counts were made.
        self._as_of = (0, 0)

    def changed(self, entry: FilterEntry, submitter: int) -> None:
        """Note that the number of recipes of a filter and submitter has changed."""
        self._miscounted[entry.number, submitter] = None

    def evaluated(self, entry: FilterEntry) -> None:
        """Note that a filter has been evaluated; none of its recipes is counted."""
        self._miscounted.update(((entry.number, submitter), None) for submitter in entry.unplaced)

    def invalidate(self, entry: FilterEntry) -> None:
        """Remove the counts of a filter whose systems are to be re-evaluated."""
        counted = self._counted.pop(entry.number, {})
        if entry.fitting is not None and self._as_of == self._now():
            for submitter, amount in counted.items():
                self._numbers.subtract(entry.fitting & self._may(submitter), amount)
        self.evaluated(entry)

    def counted(self) -> BitSlicedNumbers:
        """Return the counts by system, brought up to date."""
        if self._as_of != self._now():
            self._numbers, self._as_of = BitSlicedNumbers(), self._now()
            self._counted.clear()
            for entry in self._entries.values():
                self.evaluated(entry)
        for number, submitter in self._miscounted:
            self._count(number, submitter)
        self._miscounted.clear()
        return self._numbers

    def _count(self, number: int, submitter: int) -> None:
        entry = self._entries.get(number)
        if entry is None or entry.fitting is None:
            return
        there, counted = entry.unplaced.get(submitter, 0), self._counted.setdefault(number, {})
        more = there - counted.pop(submitter, 0)
        if there:
            counted[submitter] = there
        if more:
            change = self._numbers.add if more > 0 else self._numbers.subtract
            change(entry.fitting & self._may(submitter), abs(more))

    def _may(self, submitter: int) -> int:
        return self._access.may(self._submitters[submitter])

    def _now(self) -> tuple[int, int]:
        return self._access.version, self._submitters.version
