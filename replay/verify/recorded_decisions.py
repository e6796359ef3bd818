"""Recorded decisions of the scheduler: the decisions of one commit, in order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from domain.events import Basis, Batch, Event, Recorded, Stamp, split_subject


@dataclass(frozen=True)
class Decided:
    """One decision: its cause, its events with their subjects in log order, and the batch of its commit."""

    cause: str
    events: tuple[tuple[str, Event], ...]
    batch: Batch | None = None


@dataclass(frozen=True)
class DecidedCommit:
    """All decisions of one basis, with the stamp of the first, and the positions of the first and last event.

    `in_time` is True if every event has the time of the basis. `recorded_at` is the database's time.
    """

    stamp: Stamp
    first_position: int
    last_position: int
    in_time: bool
    recorded_at: datetime
    decisions: tuple[Decided, ...]

    @property
    def basis(self) -> Basis:
        assert self.stamp.basis is not None, "the scheduler decided it"
        return self.stamp.basis

    @property
    def cause(self) -> str:
        return self.decisions[0].cause

    @property
    def by_timer(self) -> bool:
        return self.cause.startswith("timer/")


def event_position(cause: str) -> int | None:
    kind, position = split_subject(cause)
    return int(position) if kind == "event" and position.isdecimal() else None


def commits(log: Iterable[Recorded]) -> Iterator[Sequence[Recorded]]:
    for _, together in groupby(log, key=lambda recorded: recorded.commit_end):
        yield tuple(together)


def decided(commit: Sequence[Recorded]) -> DecidedCommit | None:
    """Return the decisions of a commit, None if the scheduler did not make it."""
    basis = commit[0].stamp.basis
    if basis is None:
        return None
    decisions = []
    for _, together in groupby(commit, key=lambda recorded: recorded.stamp.number):
        events = tuple(together)
        decisions.append(
            Decided(
                events[0].stamp.cause,
                tuple((recorded.subject, recorded.event) for recorded in events),
                basis.batch,
            )
        )
    in_time = all(recorded.stamp.at == basis.now for recorded in commit)
    first = commit[0]
    bounds = first.position, commit[-1].position
    return DecidedCommit(first.stamp, *bounds, in_time, first.recorded_at, tuple(decisions))
