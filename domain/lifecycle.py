"""Life cycles: state machines as tables of rows (from, to, when), which code, diagrams and tests read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import product

from domain.errors import Refused, display_subject


@dataclass(frozen=True)
class Lifecycle:
    """The states of a kind of aggregate: initial states `start`, and transitions `rows` (from, to, when)."""

    name: str
    states: tuple[str, ...]
    start: tuple[str, ...]
    rows: tuple[tuple[str, str, str], ...]

    @cached_property
    def moves(self) -> frozenset[tuple[str, str]]:
        return frozenset((before, after) for before, after, _ in self.rows)

    @cached_property
    def final(self) -> frozenset[str]:
        """Return the states that no transition leaves."""
        return frozenset(self.states) - {before for before, _, _ in self.rows}

    def require(self, subject: str, before: str, after: str) -> None:
        """Raise Refused for a transition that no row allows."""
        if (before, after) not in self.moves:
            raise Refused(f"{display_subject(subject)} is {before} and cannot become {after}")


def fan_in(sources: Iterable[str], targets: Iterable[str], when: str) -> tuple[tuple[str, str, str], ...]:
    """Return a row from each source to each target, all with the same `when`."""
    return tuple((source, target, when) for source, target in product(sources, targets))
