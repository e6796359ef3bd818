"""The mapper between events and stored rows (JSON), a subclass of the library's Mapper."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any, Final, NamedTuple

import orjson
from eventsourcing.persistence import Mapper, StoredEvent, Transcoder

import domain.all_events  # noqa: F401  (registers every topic)
from domain.events import TOPICS, Basis, Batch, Change, Event, Recorded, Stamp, from_data
from domain.partition_numbers import DEFAULT_NUMBER


class StoredRow(NamedTuple):
    """A row of `log.events`, with the columns as `log.sql` selects them."""

    position: int
    commit_end: int
    recorded_at: datetime
    subject: str
    version: int
    topic: str
    state: bytes
    partition: int


# The beginning of `state`, and the bytes before its fields. No JSON string contains these bytes, because
# quotation marks are escaped in strings.
_VERSION: Final = re.compile(rb'\{"version":([0-9]{1,9}),')
_DATA: Final = b',"data":'
_BASIS: Final = b'"basis":'

# An odd number of backslashes: with an even number these are the six characters of the escape, not a NUL.
_NUL = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")


class Versioned(NamedTuple):
    """A change with its version in the aggregate. The library calls this a domain event."""

    originator_id: str
    originator_version: int
    change: Change


class OrjsonTranscoder(Transcoder):
    """A transcoder for events. Times become RFC 3339 in UTC; all other values must be JSON."""

    def encode(self, obj: Any) -> bytes:
        return _json(obj)

    def decode(self, data: bytes) -> Any:
        return orjson.loads(data)


def _json(value: object) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_UTC_Z)


class EventMapper(Mapper[str]):
    """A mapper that uses the topics and versions of `domain.events.TOPICS`, and upcasts older versions."""

    def __init__(self) -> None:
        super().__init__(OrjsonTranscoder())
        self._encoded_stamp: tuple[Stamp | None, bytes] = (None, b"")

    def to_stored_event(self, domain_event: Any) -> StoredEvent:
        change: Change = domain_event.change
        return StoredEvent(
            originator_id=domain_event.originator_id,
            originator_version=domain_event.originator_version,
            topic=change.event.TOPIC,
            state=self.state(change),
        )

    def state(self, change: Change) -> bytes:
        """Return the column `state`: version, stamp and fields of the event."""
        subject, event, stamp = change
        cached_stamp, encoded = self._encoded_stamp
        if cached_stamp is not stamp:
            # Cache it, because the next events mostly have the same stamp.
            encoded = _json(_stored_stamp(stamp))[1:-1]
            self._encoded_stamp = (stamp, encoded)
        state = b'{"version":%d,%b,"data":%b}' % (event.VERSION, encoded, _json(event))
        if b"\\u0000" in state and _NUL.search(state):
            # The API refuses NUL earlier. In the log it would stop every reader for ever.
            raise ValueError(f"{event.TOPIC} of {subject} holds a NUL")
        return state

    def to_domain_event(self, stored_event: StoredEvent) -> Any:
        event, stamp = self.read(stored_event.topic, stored_event.state)
        subject = str(stored_event.originator_id)
        return Versioned(subject, stored_event.originator_version, Change(subject, event, stamp))

    def read(self, topic: str, state: bytes) -> tuple[Event, Stamp]:
        head, _, data = state.partition(_DATA)
        try:
            fields = orjson.loads(data[:-1])
            version, stamp = _head(head)
        except (orjson.JSONDecodeError, KeyError):
            # The JSON has another order or spacing than that of `state`.
            stored = orjson.loads(state)
            return from_data(topic, stored["version"], stored["data"]), _stamp(stored)
        return from_data(topic, version, fields), stamp

    def require_readable(self, row: StoredRow) -> None:
        """Raise the error of `recorded` for an unreadable topic or version, without decoding other rows."""
        cls, version = TOPICS.get(row.topic), _VERSION.match(row.state)
        if cls is None or version is None or int(version[1]) != cls.VERSION:
            self.read(row.topic, row.state)

    def is_decided(self, row: StoredRow) -> bool:
        """Return whether the stamp names a basis, as those of all decisions of the scheduler do."""
        return row.state.find(_BASIS, 0, row.state.find(_DATA)) >= 0

    def recorded(self, row: StoredRow | tuple[Any, ...]) -> Recorded:
        """Decode a row. It may be a plain tuple, because a named tuple would cost a tenth more."""
        position, commit_end, recorded_at, subject, version, topic, state, partition = row
        event, stamp = self.read(topic, state)
        return Recorded(position, commit_end, recorded_at, subject, version, event, stamp, partition)


def _stored_stamp(stamp: Stamp) -> dict[str, Any]:
    """Return the stored fields of a stamp."""
    stored: dict[str, Any] = {"at": stamp.at, "actor": stamp.actor, "cause": stamp.cause}
    if stamp.token_id is not None:
        stored["token_id"] = stamp.token_id
    if stamp.basis is not None:
        stored["basis"] = stamp.basis.position
        stored["now"] = stamp.basis.now
        stored["epoch"] = stamp.basis.epoch
        stored["policy_version"] = stamp.basis.policy_version
        stored["number"] = stamp.number
        stored["partition"] = stamp.basis.partition
        if stamp.basis.batch is not None:
            stored["batch"] = stamp.basis.batch
    return stored


# Cached, because all events of a decision or of a request have the same stamp.
@lru_cache(64)
def _head(head: bytes) -> tuple[int, Stamp]:
    """Return version and stamp from the part of `state` before the fields."""
    stored = orjson.loads(head + b"}")
    return stored["version"], _stamp(stored)


def _stamp(stored: Mapping[str, Any]) -> Stamp:
    basis = None
    if stored.get("basis") is not None:
        now = datetime.fromisoformat(stored["now"])
        batch = None if stored.get("batch") is None else Batch(**stored["batch"])
        basis = Basis(
            stored["basis"],
            now,
            stored["epoch"],
            stored["policy_version"],
            batch,
            stored.get("partition", DEFAULT_NUMBER),
        )
    at = datetime.fromisoformat(stored["at"])
    return Stamp(at, stored["actor"], stored["cause"], basis, stored.get("number"), stored.get("token_id"))
