"""What an invariant is: a name, the moments at which it may look, and what it says when it is broken."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar

from replay.audit.record import Commit, Record
from replay.audit.touched import Touched
from replay.audit.world import World


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
    topics: ClassVar[tuple[str, ...] | None] = ()
    """The events before which it looks; None: before all."""

    def event(self, world: World, record: Record) -> Found:
        """Before an event: `world` has all events before it."""
        yield from ()

    def commit(self, world: World, commit: Commit, touched: Touched) -> Found:
        """After a commit, of which `touched` says whom it may have changed."""
        yield from ()

    def broken(self, positions: Iterable[int], subjects: Iterable[str], what: str) -> Violation:
        return Violation(self.name, tuple(positions), tuple(subjects), what)
