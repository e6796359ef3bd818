"""What the scheduler decided, as the log has it: the decisions of one commit, in their order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from domain.events import Basis, Event, Recorded, split_subject


@dataclass(frozen=True)
class Decided:
    """One decision: the cause that it names, and what happened to which subject, in log order."""

    cause: str
    events: tuple[tuple[str, Event], ...]


@dataclass(frozen=True)
class DecidedCommit:
    """All decisions of one basis, with the positions of their first event and of their last.

    `in_time`: every event says that it happened at the time of the basis. `recorded_at` is the
    database's time.
    """

    basis: Basis
    first_position: int
    last_position: int
    in_time: bool
    recorded_at: datetime
    decisions: tuple[Decided, ...]

    @property
    def cause(self) -> str:
        return self.decisions[0].cause

    @property
    def by_timer(self) -> bool:
        return self.cause.startswith("timer/")

    @property
    def answered(self) -> int | None:
        """The position of the last event that was answered, if any was."""
        return event_position(self.decisions[-1].cause)


def event_position(cause: str) -> int | None:
    """Of a cause that is an event."""
    kind, position = split_subject(cause)
    return int(position) if kind == "event" and position.isdecimal() else None


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
    in_time = all(recorded.stamp.at == basis.now for recorded in commit)
    place = commit[0].position, commit[-1].position
    return DecidedCommit(basis, *place, in_time, commit[0].recorded_at, tuple(decisions))
