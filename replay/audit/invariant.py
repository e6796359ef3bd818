"""What an invariant is: a name, the moments at which it may look, and what it says when it is broken."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from replay.audit.known import Known
from replay.audit.record import Commit, Decision, Record
from replay.audit.touched import Touched
from replay.audit.values import Recipe, System
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


class Grant(NamedTuple):
    """A recipe that had no system gets this one, in a decision."""

    recipe: Recipe
    system: System
    record: Record


class Invariant:
    """Base: looks nowhere. One instance goes through one log, and may remember what it saw."""

    name: ClassVar[str]
    topics: ClassVar[tuple[str, ...] | None] = None
    """The events before which it looks; None: before all."""

    def event(self, world: World, record: Record) -> Found:
        """Before an event: `world` has all events before it."""
        yield from ()

    def commit(self, world: World, commit: Commit, touched: Touched) -> Found:
        """After a commit, of which `touched` says whom it may have changed."""
        yield from ()

    # Decisions. `known` is what their basis says, and all that was decided in the commit before.

    def grant(self, known: Known, grant: Grant) -> Found:
        """Before the system is given to the recipe."""
        yield from ()

    def unwanted(self, known: Known, system: System, record: Record) -> Found:
        """Before a pending system becomes idle."""
        yield from ()

    def decided(self, known: Known, decision: Decision) -> Found:
        """After a decision."""
        yield from ()

    def broken(self, positions: Iterable[int], subjects: Iterable[str], what: str) -> Violation:
        return Violation(self.name, tuple(positions), tuple(subjects), what)
