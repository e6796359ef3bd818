"""The names that the directory has for jobs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class KnownNames:
    """Every name a job may use."""

    users: frozenset[str]
    groups: Mapping[str, frozenset[str]]
    pools: frozenset[str]
    arches: frozenset[str]
    keys: frozenset[str]
    lab_controllers: frozenset[str]
    systems: frozenset[str]
    power_types: frozenset[str]

    def knows(self, kind: str, name: str) -> bool:
        """Whether a filter may use the name; like all text in a filter, whatever its case."""
        return name in getattr(self, kind) or name.casefold() in self._folded[kind]

    @cached_property
    def _folded(self) -> Mapping[str, frozenset[str]]:
        kinds = ("users", "pools", "arches", "keys", "lab_controllers", "systems", "power_types")
        return {kind: frozenset(name.casefold() for name in getattr(self, kind)) for kind in kinds}
