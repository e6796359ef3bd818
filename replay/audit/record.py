"""The events of a log as plain records, and the commits and decisions they make up."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import groupby
from typing import Any, NamedTuple

from domain.events import Recorded


class Record(NamedTuple):
    """One event. `kind` and `name` are its subject, whose `version` it makes; `number` counts the decisions
    of its commit.
    """

    position: int
    commit_end: int
    kind: str
    name: str
    version: int
    topic: str
    data: Mapping[str, Any]
    actor: str
    cause: str
    basis: int | None = None
    number: int | None = None
    epoch: int | None = None

    @property
    def subject(self) -> str:
        return f"{self.kind}/{self.name}"

    @property
    def happened(self) -> str:
        """The topic without its aggregate: for a state, the state."""
        return _happened(self.topic)


@lru_cache(1024)
def _happened(topic: str) -> str:
    return topic.partition(".")[2]


def record_of(recorded: Recorded) -> Record:
    kind, _, name = recorded.subject.partition("/")
    stamp, event = recorded.stamp, recorded.event
    basis = stamp.basis
    return Record(
        recorded.position,
        recorded.commit_end,
        kind,
        name,
        recorded.version,
        event.TOPIC,
        vars(event),
        stamp.actor,
        stamp.cause,
        None if basis is None else basis.position,
        stamp.number,
        None if basis is None else basis.epoch,
    )


def from_recorded(log: Iterable[Recorded]) -> Iterator[Record]:
    return map(record_of, log)


def from_json(events: Iterable[Mapping[str, Any]]) -> Iterator[Record]:
    """From the events of all pages of `GET /events`, in order."""
    for event in events:
        kind, _, name = event["subject"].partition("/")
        yield Record(
            position=event["position"],
            commit_end=event["commit_end"],
            kind=kind,
            name=name,
            version=event["version"],
            topic=event["topic"],
            data=event["data"],
            actor=event["actor"],
            cause=event["cause"],
            basis=event.get("basis"),
            number=event.get("number"),
            epoch=event.get("epoch"),
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

    def about(self, *subjects: str) -> tuple[int, ...]:
        """The positions of what happens to these; of the whole commit if nothing does."""
        found = tuple(record.position for record in self.records if record.subject in subjects)
        return found or tuple(sorted({self.first, self.end}))


def commits(records: Iterable[Record]) -> Iterator[Commit]:
    for _, together in groupby(records, key=lambda record: record.commit_end):
        yield Commit(tuple(together))
