"""The events of a log as plain records, and the commits and decisions that they form."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import groupby
from typing import Any, NamedTuple

import orjson

from replay.audit.tables import DEFAULT_PARTITION, EVERYBODY

Recorded = Any
"""An event in memory. It is untyped here: the audit does not import the code that writes logs."""


SKIPPED_TOPICS = frozenset({"job.submitted"})
"""Topics whose data is not decoded: it is a whole job, and each recipe repeats its part."""


class EventRecord(NamedTuple):
    """An event: `kind` and `name` of its subject, the `version` after it, the `number` of its decision."""

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
    policy_version: int | None = None
    # The time of the event and of its basis: texts or times; None if not recorded.
    at: Any = None
    now: Any = None
    # The time at which the database recorded it.
    recorded_at: Any = None
    # The last position whose triggers belong to the decision's batch; None in a policy without batches.
    batch: int | None = None
    # The number of the partition that the event belongs to; 0 for one that concerns all.
    partition: int = 0
    # The partition of the basis; None if not recorded.
    basis_partition: int | None = None

    @property
    def subject(self) -> str:
        return f"{self.kind}/{self.name}"

    @property
    def owning_partition(self) -> int:
        """Return the number of its partition. Before partitions this was the first one."""
        return self.partition or DEFAULT_PARTITION

    @property
    def gives_locks(self) -> bool:
        """Return whether a recipe gets its locks, if only none at all, so that it starts."""
        if self.topic == "recipe.waiting":
            # It had no field `locks` before sets waited for their locks.
            return self.data.get("locks", {}) is not None
        return self.topic == "recipe.locked"

    @property
    def event_name(self) -> str:
        """Return the topic without its kind. For a change of state this is the new state."""
        return _happened(self.topic)


@lru_cache(1024)
def _happened(topic: str) -> str:
    return topic.partition(".")[2]


def record_of(recorded: Recorded) -> EventRecord:
    kind, _, name = recorded.subject.partition("/")
    stamp, event = recorded.stamp, recorded.event
    basis = stamp.basis
    return EventRecord(
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
        None if basis is None else basis.policy_version,
        stamp.at,
        None if basis is None else basis.now,
        recorded.recorded_at,
        None if basis is None or basis.batch is None else basis.batch.upto,
        recorded.partition,
        None if basis is None else basis.partition,
    )


def from_row(row: tuple[int, int, Any, str, int, str, bytes, int]) -> EventRecord:
    """Return the record of a row: position, end of commit, time, subject, version, topic, JSON, partition."""
    position, commit_end, recorded_at, subject, version, topic, state, partition = row
    kind, _, name = subject.partition("/")
    if topic in SKIPPED_TOPICS:
        state = _without_data(state)
    stored = orjson.loads(state)
    get = stored.get
    return EventRecord(
        position,
        commit_end,
        kind,
        name,
        version,
        topic,
        stored["data"],
        stored["actor"],
        stored["cause"],
        get("basis"),
        get("number"),
        get("epoch"),
        get("policy_version"),
        stored["at"],
        get("now"),
        recorded_at,
        _upto(get("batch")),
        partition,
        get("partition"),
    )


def _upto(batch: Mapping[str, Any] | None) -> int | None:
    return None if batch is None else batch["upto"]


def _without_data(state: bytes) -> bytes:
    """Replace the data, which comes last, by `{}`. No JSON string contains the marker unescaped."""
    before, begin, _ = state.partition(b',"data":')
    return b"%b%b{}}" % (before, begin) if begin else state


def from_recorded(log: Iterable[Recorded]) -> Iterator[EventRecord]:
    return map(record_of, log)


def from_json(events: Iterable[Mapping[str, Any]]) -> Iterator[EventRecord]:
    """Yield the records of the events of all pages of `GET /events`, in order."""
    numbers: dict[str | None, int] = {None: EVERYBODY, "default": DEFAULT_PARTITION}
    for event in events:
        kind, _, name = event["subject"].partition("/")
        if event["topic"] == "partition.created":
            numbers[name] = event["data"]["number"]
        yield EventRecord(
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
            policy_version=event.get("policy_version"),
            at=event.get("at"),
            now=event.get("now"),
            batch=_upto(event.get("batch")),
            recorded_at=event.get("recorded_at"),
            partition=numbers[event.get("partition")],
        )


@dataclass(frozen=True)
class RecordedDecision:
    """The events of one commit that share a number, in log order."""

    number: int | None
    basis: int
    records: tuple[EventRecord, ...]

    @property
    def policy_version(self) -> int | None:
        return self.records[0].policy_version

    @property
    def partition(self) -> int:
        """Return the number of the partition that decided."""
        return self.records[0].basis_partition or self.records[0].owning_partition

    @property
    def batch(self) -> int:
        """Return the position up to which its batch was collected, by default the basis."""
        batch = self.records[0].batch
        return self.basis if batch is None else batch


@dataclass(frozen=True)
class Commit:
    """Events that were appended together."""

    records: tuple[EventRecord, ...]

    @property
    def first(self) -> int:
        return self.records[0].position

    @property
    def end(self) -> int:
        return self.records[-1].commit_end

    @cached_property
    def decisions(self) -> tuple[RecordedDecision, ...]:
        decided = (record for record in self.records if record.basis is not None)
        return tuple(
            RecordedDecision(number, basis, tuple(records))
            for (number, basis), records in groupby(decided, key=lambda record: (record.number, record.basis))
            if basis is not None
        )

    @cached_property
    def partitions(self) -> frozenset[int]:
        """Return the numbers of the partitions that its events name."""
        named = {number for record in self.records for number in (record.partition, record.basis_partition)}
        for record in self.records:
            if record.topic == "partition.created":
                named.add(record.data["number"])
            elif record.topic == "lab-controller.partition-changed":
                named.add(record.data["partition"])
        return frozenset(number for number in named if number)

    def about(self, *subjects: str) -> tuple[int, ...]:
        """Return the positions of the events of these subjects, or of the commit's bounds if none."""
        positions = tuple(record.position for record in self.records if record.subject in subjects)
        return positions or tuple(sorted({self.first, self.end}))


def commits(records: Iterable[EventRecord]) -> Iterator[Commit]:
    for _, together in groupby(records, key=lambda record: record.commit_end):
        yield Commit(tuple(together))
