"""The number of unplaced recipes that could use each system, updated at queries, not with each recipe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from domain.scheduling.bitsets.bit_sliced import BitSlicedNumbers
from domain.scheduling.demand.submitters import Submitters
from domain.scheduling.ranked import RankedByPriority
from domain.scheduling.supply.access import AccessIndex
from domain.scheduling.supply.filter_key import FilterKey


@dataclass
class FilterEntry:
    """A filter, its unplaced recipes by submitter, and its `fitting` systems (None: not evaluated yet)."""

    key: FilterKey
    number: int
    fitting: int | None = None
    unplaced: dict[int, int] = field(default_factory=dict)


class Evaluated(NamedTuple):
    """An evaluated filter: its number (its bit in signatures) and the bitmap of the systems that fit it."""

    key: FilterKey
    number: int
    fitting: int


class FilterInLine(NamedTuple):
    """A filter, and its recipes in one line by submitter number, in groups."""

    entry: FilterEntry
    recipes: Mapping[int, list[RankedByPriority]]


class DemandCounts:
    """Counts by system over the evaluated filters; `entries` are all filters by number. Mutable."""

    def __init__(
        self, access: AccessIndex, submitters: Submitters, entries: Mapping[int, FilterEntry]
    ) -> None:
        self._access = access
        self._submitters = submitters
        self._entries = entries
        self._numbers = BitSlicedNumbers()
        # The numbers of recipes that `_numbers` includes, by filter and submitter.
        self._counted: dict[int, dict[int, int]] = {}
        # The pairs of filter and submitter for which `_counted` is out of date.
        self._outdated: dict[tuple[int, int], None] = {}
        # The versions of access and submitter numbers for which the counts are valid.
        self._versions = (0, 0)

    def changed(self, entry: FilterEntry, submitter: int) -> None:
        self._outdated[entry.number, submitter] = None

    def evaluated(self, entry: FilterEntry) -> None:
        """Record that a filter was evaluated, so that its recipes must be counted."""
        self._outdated.update(((entry.number, submitter), None) for submitter in entry.unplaced)

    def invalidate(self, entry: FilterEntry) -> None:
        """Remove the counts of a filter whose systems are to be re-evaluated."""
        counted = self._counted.pop(entry.number, {})
        if entry.fitting is not None and self._versions == self._now():
            for submitter, amount in counted.items():
                self._numbers.subtract(entry.fitting & self._may(submitter), amount)
        self.evaluated(entry)

    def counted(self) -> BitSlicedNumbers:
        """Return the counts by system, brought up to date."""
        if self._versions != self._now():
            self._numbers, self._versions = BitSlicedNumbers(), self._now()
            self._counted.clear()
            for entry in self._entries.values():
                self.evaluated(entry)
        for number, submitter in self._outdated:
            self._count(number, submitter)
        self._outdated.clear()
        return self._numbers

    def _count(self, number: int, submitter: int) -> None:
        entry = self._entries.get(number)
        if entry is None or entry.fitting is None:
            return
        count, counted = entry.unplaced.get(submitter, 0), self._counted.setdefault(number, {})
        difference = count - counted.pop(submitter, 0)
        if count:
            counted[submitter] = count
        if difference:
            change = self._numbers.add if difference > 0 else self._numbers.subtract
            change(entry.fitting & self._may(submitter), abs(difference))

    def _may(self, submitter: int) -> int:
        return self._access.allowed(self._submitters[submitter])

    def _now(self) -> tuple[int, int]:
        return self._access.version, self._submitters.version
