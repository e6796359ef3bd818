"""The names in the directory that jobs may use."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from domain.partition_numbers import DEFAULT_PARTITION

# The maximum number of names that `similar` returns: comparing an unknown name with all could take long.
MAX_COMPARED: Final = 300


@dataclass(frozen=True)
class NameIndex:
    """All names that a job may use, by kind; `groups` has the members of each group."""

    users: frozenset[str]
    groups: Mapping[str, frozenset[str]]
    pools: frozenset[str]
    arches: frozenset[str]
    keys: frozenset[str]
    lab_controllers: frozenset[str]
    systems: frozenset[str]
    power_types: frozenset[str]
    partitions: frozenset[str] = frozenset((DEFAULT_PARTITION.name,))

    def has(self, kind: str, name: str) -> bool:
        """Return whether the name exists, ignoring case as requirements do."""
        return name in getattr(self, kind) or name.casefold() in self._folded[kind]

    def similar(self, kind: str, name: str) -> Sequence[str]:
        """Return the MAX_COMPARED alphabetically nearest names of a kind, or all if there are fewer."""
        names = self._sorted.get(kind)
        if names is None:
            names = self._sorted[kind] = sorted(getattr(self, kind))
        if len(names) <= MAX_COMPARED:
            return names
        middle = bisect_left(names, name)
        return names[max(0, middle - MAX_COMPARED // 2) : middle + MAX_COMPARED // 2]

    @cached_property
    def _sorted(self) -> dict[str, list[str]]:
        return {}

    @cached_property
    def _folded(self) -> Mapping[str, frozenset[str]]:
        kinds = ("users", "pools", "arches", "keys", "lab_controllers", "systems", "power_types")
        return {kind: frozenset(name.casefold() for name in getattr(self, kind)) for kind in kinds}
