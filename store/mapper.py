"""Events to stored rows and back, as JSON by orjson, on the library's Mapper."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any, Final, NamedTuple

import orjson
from eventsourcing.persistence import Mapper, StoredEvent, Transcoder

import domain.all_events  # noqa: F401  (so that every topic in the log is known)
from domain.events import TOPICS, Basis, Batch, Change, Event, Recorded, Stamp, from_data


class StoredRow(NamedTuple):
    """A row of `log.events`, with the columns as `log.sql` selects them."""

    position: int
    commit_end: int
    recorded_at: datetime
    subject: str
    version: int
    topic: str
    state: bytes


# As `state` begins, and what it has before the fields: no text holds these bytes, its quotation marks are
# escaped.
_VERSION: Final = re.compile(rb'\{"version":([0-9]{1,9}),')
_DATA: Final = b',"data":'
_BASIS: Final = b'"basis":'

NUL = b"\\u0000"


class Versioned(NamedTuple):
    """A change with the version it takes in its aggregate; what the library calls a domain event."""

    originator_id: str
    originator_version: int
    change: Change


class OrjsonTranscoder(Transcoder):
    """Datetimes become RFC 3339 in UTC, events their fields by name; everything else must be JSON already."""

    def encode(self, obj: Any) -> bytes:
        return _json(obj)

    def decode(self, data: bytes) -> Any:
        return orjson.loads(data)


def _json(value: object) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_UTC_Z)


class EventMapper(Mapper[str]):
    """Topics and versions are those of the domain's registry, upcasting included."""

    def __init__(self) -> None:
        super().__init__(OrjsonTranscoder())
        self._stamped: tuple[Stamp | None, bytes] = (None, b"")

    def to_stored_event(self, domain_event: Any) -> StoredEvent:
        change: Change = domain_event.change
        return StoredEvent(
            originator_id=domain_event.originator_id,
            originator_version=domain_event.originator_version,
            topic=change.event.TOPIC,
            state=self.state(change),
        )

    def state(self, change: Change) -> bytes:
        """What the log has of it beside its subject, version and topic."""
        subject, event, stamp = change
        known, stamped = self._stamped
        if known is not stamp:
            # The next events will have it, too.
            stamped = _json(_stamped(stamp))[1:-1]
            self._stamped = (stamp, stamped)
        state = b'{"version":%d,%b,"data":%b}' % (event.VERSION, stamped, _json(event))
        if NUL in state:
            # The doors refuse it. One that got by would stop every reader of the log for ever.
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
            # Stored otherwise than we do it.
            stored = orjson.loads(state)
            return from_data(topic, stored["version"], stored["data"]), _stamp(stored)
        return from_data(topic, version, fields), stamp

    def require_readable(self, row: StoredRow) -> None:
        """Raise the error of `recorded` for an unreadable row. A readable row is not decoded."""
        cls, version = TOPICS.get(row.topic), _VERSION.match(row.state)
        if cls is None or version is None or int(version[1]) != cls.VERSION:
            self.read(row.topic, row.state)

    def is_decided(self, row: StoredRow) -> bool:
        """Return whether the stamp names a basis, as in each event that a scheduler decides."""
        return row.state.find(_BASIS, 0, row.state.find(_DATA)) >= 0

    def recorded(self, row: StoredRow | tuple[Any, ...]) -> Recorded:
        """Decode a row. A plain tuple of the same columns is enough: wrapping each would cost a tenth."""
        position, commit_end, recorded_at, subject, version, topic, state = row
        event, stamp = self.read(topic, state)
        return Recorded(position, commit_end, recorded_at, subject, version, event, stamp)


def _stamped(stamp: Stamp) -> dict[str, Any]:
    """What a stored event has beside its version and data."""
    stored: dict[str, Any] = {"at": stamp.at, "actor": stamp.actor, "cause": stamp.cause}
    if stamp.basis is not None:
        stored["basis"] = stamp.basis.position
        stored["now"] = stamp.basis.now
        stored["epoch"] = stamp.basis.epoch
        stored["policy_version"] = stamp.basis.policy_version
        stored["number"] = stamp.number
        if stamp.basis.batch is not None:
            stored["batch"] = stamp.basis.batch
    return stored


# The events of one decision, or of one request, have one stamp.
@lru_cache(64)
def _head(head: bytes) -> tuple[int, Stamp]:
    """Version and stamp of what is stored, up to its fields."""
    stored = orjson.loads(head + b"}")
    return stored["version"], _stamp(stored)


def _stamp(stored: Mapping[str, Any]) -> Stamp:
    basis = None
    if stored.get("basis") is not None:
        now = datetime.fromisoformat(stored["now"])
        batch = None if stored.get("batch") is None else Batch(**stored["batch"])
        basis = Basis(stored["basis"], now, stored["epoch"], stored["policy_version"], batch)
    at = datetime.fromisoformat(stored["at"])
    return Stamp(at, stored["actor"], stored["cause"], basis, stored.get("number"))
