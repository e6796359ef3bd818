"""An event as people read it, and as it goes out to all who watch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import orjson

from domain.events import Recorded, shown_of
from store.selection import OF_TWO_TOPICS, subjects_of


class Message:
    """An event on its way. It is read and becomes text once, for the first who wants it, and the same for all
    others: most of what comes nobody watches.
    """

    __slots__ = ("_read", "_subjects", "_text", "position", "subject", "topic")

    def __init__(self, position: int, topic: str, subject: str, read: Callable[[], Recorded]) -> None:
        self.position = position
        self.topic = topic
        self.subject = subject
        self._read: Callable[[], Recorded] | None = read
        self._text = b""
        self._subjects: tuple[str, ...] = (subject,)

    @classmethod
    def of(cls, recorded: Recorded) -> Message:
        return cls(recorded.position, recorded.event.TOPIC, recorded.subject, lambda: recorded)

    @property
    def text(self) -> bytes:
        self._take()
        return self._text

    @property
    def subjects(self) -> tuple[str, ...]:
        """As `subjects_of` the event."""
        if self.topic in OF_TWO_TOPICS:
            self._take()
        return self._subjects

    def _take(self) -> None:
        if self._read is not None:
            recorded, self._read = self._read(), None
            self._text, self._subjects = server_sent(recorded), subjects_of(recorded)


def server_sent(recorded: Recorded) -> bytes:
    """As a stream has it (WHATWG HTML, 9.2)."""
    data = orjson.dumps(shown(recorded), option=orjson.OPT_UTC_Z)
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (recorded.position, recorded.event.TOPIC.encode(), data)


def shown(recorded: Recorded) -> dict[str, Any]:
    """An event as the API answers it."""
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
        "basis": basis.position if basis else None,
        "commit_end": recorded.commit_end,
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
