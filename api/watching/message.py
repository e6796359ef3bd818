"""The JSON form of events in the API, and messages to watchers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

import orjson

from domain.events import Recorded, shown_of
from store.selection import POOL_SYSTEM_TOPICS, subjects_of

PartitionNames = Mapping[int, str]
"""The name of each partition that ever existed, by its number."""


class EventMessage:
    """An event to send, decoded for the first watcher that sends it or needs its actor, if there is one."""

    __slots__ = (
        "_actor",
        "_names",
        "_read",
        "_subjects",
        "_text",
        "partition",
        "position",
        "subject",
        "topic",
    )

    def __init__(
        self,
        position: int,
        topic: str,
        subject: str,
        partition: int,
        read: Callable[[], Recorded],
        names: PartitionNames,
    ) -> None:
        self.position = position
        self.topic = topic
        self.subject = subject
        self.partition = partition
        self._names = names
        self._read: Callable[[], Recorded] | None = read
        self._text = b""
        self._actor = ""
        self._subjects: tuple[str, ...] = (subject,)

    @classmethod
    def from_recorded(cls, recorded: Recorded, names: PartitionNames) -> EventMessage:
        position, topic, subject = recorded.position, recorded.event.TOPIC, recorded.subject
        return cls(position, topic, subject, recorded.partition, lambda: recorded, names)

    @property
    def text(self) -> bytes:
        self._decode()
        return self._text

    @property
    def actor(self) -> str:
        self._decode()
        return self._actor

    @property
    def subjects(self) -> tuple[str, ...]:
        """Return the subjects of the event, as `store.selection.subjects_of` does."""
        if self.topic in POOL_SYSTEM_TOPICS:
            self._decode()
        return self._subjects

    def _decode(self) -> None:
        if self._read is not None:
            recorded, self._read = self._read(), None
            self._text, self._subjects = server_sent(recorded, self._names), subjects_of(recorded)
            self._actor = recorded.stamp.actor


def server_sent(recorded: Recorded, names: PartitionNames) -> bytes:
    """Return the event as a server-sent event (WHATWG HTML, 9.2)."""
    data = orjson.dumps(event_document(recorded, names), option=orjson.OPT_UTC_Z)
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (recorded.position, recorded.event.TOPIC.encode(), data)


def event_document(recorded: Recorded, names: PartitionNames) -> dict[str, Any]:
    stamp, basis = recorded.stamp, recorded.stamp.basis
    body: dict[str, Any] = {
        "position": recorded.position,
        "topic": recorded.event.TOPIC,
        "version": recorded.version,
        "subject": recorded.subject,
        "at": stamp.at,
        "recorded_at": recorded.recorded_at,
        "actor": stamp.actor,
        "cause": stamp.cause,
        "token_id": stamp.token_id,
        "basis": basis.position if basis else None,
        "commit_end": recorded.commit_end,
        "partition": names.get(recorded.partition),
        "data": shown_of(recorded.event),
    }
    if basis is not None:
        body |= {
            "now": basis.now,
            "epoch": basis.epoch,
            "policy_version": basis.policy_version,
            "number": stamp.number,
            "batch": None if basis.batch is None else asdict(basis.batch),
        }
    return body
