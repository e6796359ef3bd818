"""The events of a log as plain records, and the commits and decisions they make up."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Any

from domain.events import Recorded, data_of


@dataclass(frozen=True)
class Record:
    """One event. `version` is that of its subject, `number` counts the decisions of its commit."""

    position: int
    commit_end: int
    subject: str
    version: int
    topic: str
    data: Mapping[str, Any]
    actor: str
    cause: str
    basis: int | None = None
    number: int | None = None
    at: Any = None

    @property
    def kind(self) -> str:
        return self.subject.partition("/")[0]

    @property
    def name(self) -> str:
        return self.subject.partition("/")[2]

    @property
    def happened(self) -> str:
        """The topic without its aggregate: for a state, the state."""
        return self.topic.partition(".")[2]


def from_recorded(log: Iterable[Recorded]) -> Iterator[Record]:
    for recorded in log:
        stamp = recorded.stamp
        yield Record(
            position=recorded.position,
            commit_end=recorded.commit_end,
            subject=recorded.subject,
            version=recorded.version,
            topic=recorded.event.TOPIC,
            data=data_of(recorded.event),
            actor=stamp.actor,
            cause=stamp.cause,
            basis=stamp.basis.position if stamp.basis else None,
            number=stamp.number,
            at=stamp.at,
        )


def from_json(events: Iterable[Mapping[str, Any]]) -> Iterator[Record]:
    """From the events of all pages of `GET /events`, in order."""
    for event in events:
        yield Record(
            position=event["position"],
            commit_end=event["commit_end"],
            subject=event["subject"],
            version=event["version"],
            topic=event["topic"],
            data=event["data"],
            actor=event["actor"],
            cause=event["cause"],
            basis=event.get("basis"),
            number=event.get("number"),
            at=event.get("at"),
        )


@dataclass(frozen=True)
class Decision:
    """The events of one commit that share a number, in log order."""

    number: int | None
    basis: int
    records: tuple[Record, ...]


@dataclass(frozen=True)
class Commit:
    """What became true at once."""

    records: tuple[Record, ...]

    @property
    def first(self) -> int:
        return self.records[0].position

    @property
    def end(self) -> int:
        return self.records[-1].commit_end

    @cached_property
    def decisions(self) -> tuple[Decision, ...]:
        decided = (record for record in self.records if record.basis is not None)
        return tuple(
            Decision(number, basis, tuple(records))
            for (number, basis), records in groupby(decided, key=lambda record: (record.number, record.basis))
            if basis is not None
        )

    def of(self, *topics: str) -> Iterator[Record]:
        return (record for record in self.records if record.topic in topics)

    def about(self, *subjects: str) -> tuple[int, ...]:
        """The positions of what happens to these; of the whole commit if nothing does."""
        found = tuple(record.position for record in self.records if record.subject in subjects)
        return found or tuple(sorted({self.first, self.end}))


def commits(records: Iterable[Record]) -> Iterator[Commit]:
    for _, together in groupby(records, key=lambda record: record.commit_end):
        yield Commit(tuple(together))
