"""Events to stored rows and back, as JSON by orjson, on the library's Mapper."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import orjson
from eventsourcing.persistence import Mapper, StoredEvent, Transcoder

import domain.all_events  # noqa: F401  (so that every topic in the log is known)
from domain.events import TOPICS, Basis, Change, Event, Recorded, Stamp, data_of, from_data

Row = tuple[int, int, datetime, str, int, str, bytes]
"""position, commit end, recorded at, subject, version, topic, state: as `log.sql` selects them."""


# As `_state` begins.
_VERSION: Final = re.compile(rb'\{"version":([0-9]{1,9}),')

NUL = b"\\u0000"


@dataclass(frozen=True, slots=True)
class Versioned:
    """A change with the version it takes in its aggregate; what the library calls a domain event."""

    originator_id: str
    originator_version: int
    change: Change


class OrjsonTranscoder(Transcoder):
    """Datetimes become RFC 3339 in UTC; everything else must be JSON already."""

    def encode(self, obj: Any) -> bytes:
        return orjson.dumps(obj, option=orjson.OPT_UTC_Z)

    def decode(self, data: bytes) -> Any:
        return orjson.loads(data)


class EventMapper(Mapper[str]):
    """Topics and versions are those of the domain's registry, upcasting included."""

    def __init__(self) -> None:
        super().__init__(OrjsonTranscoder())

    def to_stored_event(self, domain_event: Any) -> StoredEvent:
        change: Change = domain_event.change
        state = self.transcoder.encode(_state(change.event, change.stamp))
        if NUL in state:
            # The doors refuse it. One that got by would stop every reader of the log for ever.
            raise ValueError(f"{change.event.TOPIC} of {change.subject} holds a NUL")
        return StoredEvent(
            originator_id=domain_event.originator_id,
            originator_version=domain_event.originator_version,
            topic=change.event.TOPIC,
            state=state,
        )

    def to_domain_event(self, stored_event: StoredEvent) -> Any:
        event, stamp = self.read(stored_event.topic, stored_event.state)
        subject = str(stored_event.originator_id)
        return Versioned(subject, stored_event.originator_version, Change(subject, event, stamp))

    def read(self, topic: str, state: bytes) -> tuple[Event, Stamp]:
        stored = self.transcoder.decode(state)
        return from_data(topic, stored["version"], stored["data"]), _stamp(stored)

    def require_readable(self, row: Row) -> None:
        """Raises what `recorded` would for an event that is not understood, without reading one that is."""
        topic, state = row[5], row[6]
        cls, version = TOPICS.get(topic), _VERSION.match(state)
        if cls is None or version is None or int(version[1]) != cls.VERSION:
            self.read(topic, state)

    def recorded(self, row: Row) -> Recorded:
        position, commit_end, recorded_at, subject, version, topic, state = row
        event, stamp = self.read(topic, state)
        return Recorded(position, commit_end, recorded_at, subject, version, event, stamp)


def _state(event: Event, stamp: Stamp) -> dict[str, Any]:
    state: dict[str, Any] = {
        "version": event.VERSION,
        "at": stamp.at,
        "actor": stamp.actor,
        "cause": stamp.cause,
        "data": data_of(event),
    }
    if stamp.basis is not None:
        state["basis"] = stamp.basis.position
        state["now"] = stamp.basis.now
        state["epoch"] = stamp.basis.epoch
        state["policy_version"] = stamp.basis.policy_version
        state["number"] = stamp.number
    return state


def _stamp(stored: dict[str, Any]) -> Stamp:
    basis = None
    if "basis" in stored:
        now = datetime.fromisoformat(stored["now"])
        basis = Basis(stored["basis"], now, stored["epoch"], stored["policy_version"])
    at = datetime.fromisoformat(stored["at"])
    return Stamp(at, stored["actor"], stored["cause"], basis, stored.get("number"))
