"""The base class of invariants, and the violation that an invariant reports."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar

from replay.audit.affected import Affected
from replay.audit.record import Commit, EventRecord
from replay.audit.world import FoldedWorld


@dataclass(frozen=True)
class Violation:
    """A broken invariant, with the positions and subjects concerned."""

    invariant: str
    positions: tuple[int, ...]
    subjects: tuple[str, ...]
    what: str

    def __str__(self) -> str:
        where = ", ".join(map(str, self.positions)) or "the end"
        return f"{self.invariant} at {where} ({', '.join(self.subjects)}): {self.what}"


Violations = Iterator[Violation]


class Invariant:
    """Base class, which checks nothing. An instance checks one log, and may have state."""

    name: ClassVar[str]
    topics: ClassVar[tuple[str, ...] | None] = ()
    """The topics of the events to check; None means all events."""

    def check_event(self, world: FoldedWorld, record: EventRecord) -> Violations:
        """Check an event. `world` is the state before it."""
        yield from ()

    def check_commit(self, world: FoldedWorld, commit: Commit, affected: Affected) -> Violations:
        """Check a commit. `world` is the state after it, `affected` has its possible changes."""
        yield from ()

    def violation(self, positions: Iterable[int], subjects: Iterable[str], what: str) -> Violation:
        return Violation(self.name, tuple(positions), tuple(subjects), what)
