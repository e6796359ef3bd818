"""The decision on systems or groups of an import from Beaker, with the outcome of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from domain.events import Decided
from domain.system.differences import CHANGED, CREATED, UNCHANGED, PropertyDifference
from store.requests import PowerChange


class Outcome(NamedTuple):
    """The outcome of an import for a system or group, and its changes."""

    outcome: str
    changes: Sequence[PropertyDifference]

    @classmethod
    def of(cls, changes: Sequence[PropertyDifference], *, is_new: bool) -> Outcome:
        return cls(CREATED if is_new else CHANGED if changes else UNCHANGED, changes)


@dataclass
class BeakerDecision:
    """The events, the versions that they depend on, new power settings, and the outcomes by name."""

    decided: Decided = field(default_factory=list)
    versions: dict[str, int] = field(default_factory=dict)
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    power: list[PowerChange] = field(default_factory=list)
