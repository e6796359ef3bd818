"""What the scheduler decided, as the log has it: the decisions of one commit, in their order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from domain.events import Basis, Event, Recorded


@dataclass(frozen=True)
class Decided:
    """One decision: the cause that it names, and what happened to which subject, in log order."""

    cause: str
    events: tuple[tuple[str, Event], ...]


@dataclass(frozen=True)
class DecidedCommit:
    """All decisions of one basis. `first_position` is that of their first event."""

    basis: Basis
    first_position: int
    decisions: tuple[Decided, ...]

    @property
    def cause(self) -> str:
        return self.decisions[0].cause

    @property
    def by_timer(self) -> bool:
        return self.cause.startswith("timer/")


def commits(log: Iterable[Recorded]) -> Iterator[Sequence[Recorded]]:
    """The events of a log by commit."""
    for _, together in groupby(log, key=lambda recorded: recorded.commit_end):
        yield tuple(together)


def decided(commit: Sequence[Recorded]) -> DecidedCommit | None:
    """None when it is not the scheduler's."""
    basis = commit[0].stamp.basis
    if basis is None:
        return None
    decisions = []
    for _, together in groupby(commit, key=lambda recorded: recorded.stamp.number):
        events = tuple(together)
        decisions.append(
            Decided(events[0].stamp.cause, tuple((recorded.subject, recorded.event) for recorded in events))
        )
    return DecidedCommit(basis, commit[0].position, tuple(decisions))
