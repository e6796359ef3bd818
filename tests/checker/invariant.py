"""What an invariant is: a name, three moments at which it may look, and what it says when it is broken."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar

from tests.checker.record import Commit, Decision, Record
from tests.checker.world import World


@dataclass(frozen=True)
class Violation:
    """Which invariant is broken, where in the log, and by whom."""

    invariant: str
    positions: tuple[int, ...]
    subjects: tuple[str, ...]
    what: str

    def __str__(self) -> str:
        where = ", ".join(map(str, self.positions)) or "the end"
        return f"{self.invariant} at {where} ({', '.join(self.subjects)}): {self.what}"


Found = Iterator[Violation]


class Invariant:
    """Base: looks nowhere. One instance goes through one log, and may remember what it saw."""

    name: ClassVar[str]

    def event(self, world: World, record: Record) -> Found:
        """Before each event: `world` has all events before it."""
        yield from ()

    def commit(self, world: World, commit: Commit) -> Found:
        """After each commit."""
        yield from ()

    def decision(self, world: World, decision: Decision) -> Found:
        """Before each decision: `world` is what its basis and the decisions numbered before it say."""
        yield from ()

    def broken(self, positions: Iterable[int], subjects: Iterable[str], what: str) -> Violation:
        return Violation(self.name, tuple(positions), tuple(subjects), what)
