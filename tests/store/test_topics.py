"""Stored events must stay readable: topics and fields are pinned, older versions are upcast."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from domain.events import TOPICS, Change, Event, UnknownTopic, UnknownVersion, event
from store.event_log import EventLog
from store.mapper import EventMapper, StoredRow
from store.requests import AppendRequest
from tests.harness.appends import STAMP, append_to
from tests.harness.sessions import Owner

PINNED = Path(__file__).with_name("topics.json")

WRITE_AS_OWNER = b"""
INSERT INTO log.events
    (originator_id, originator_version, topic, state, notification_id, commit_end, recorded_at)
VALUES ('old/1', 1, %s, %s, 1, 1, now())
"""


def test_topics__all_of_the_program__as_pinned() -> None:
    """Fields of a version never change: raise VERSION, write `upcast`, then add a row to the file by hand."""
    import projections.folding  # noqa: F401  (imports every module of events)

    now = {
        topic: [cls.VERSION, *cls.FIELDS] for topic, cls in TOPICS.items() if not topic.startswith("test.")
    }
    assert now == json.loads(PINNED.read_text("utf-8"))


@pytest.fixture
def renamed() -> Iterator[type[Event]]:
    """Define an event whose field had another name in its first version."""

    @event("test.renamed", version=2)
    class Renamed(Event):
        colour: str

        @classmethod
        def upcast(cls, data: dict[str, Any], version: int) -> dict[str, Any]:
            if version != 1:
                return super().upcast(data, version)
            return {"colour": data["color"]}

    yield Renamed
    del TOPICS["test.renamed"]


def test_load__older_version_stored__upcast(log: EventLog, owner: Owner, renamed: type[Event]) -> None:
    store(owner, "test.renamed", version=1, data={"color": "red"})

    (recorded,) = log.load({"old/1": 0})["old/1"]
    assert recorded.event == renamed(colour="red")


def test_load__present_version_written__same_event_read(log: EventLog, renamed: type[Event]) -> None:
    happened = renamed(colour="größer")
    log.append([AppendRequest("written", (Change("new/1", happened, STAMP),), {"new/1": 0})])

    (recorded,) = log.load({"new/1": 0})["new/1"]
    assert (recorded.event, recorded.stamp) == (happened, STAMP)


@pytest.mark.parametrize(
    ("topic", "version", "error"),
    [
        ("test.never-heard-of", 1, UnknownTopic),
        # A later program wrote it; a reader that skips it would have another history.
        ("test.renamed", 3, UnknownVersion),
    ],
)
def test_reading__unreadable_event__stops_the_reader(
    log: EventLog, owner: Owner, renamed: type[Event], topic: str, version: int, error: type[Exception]
) -> None:
    store(owner, topic, version, {})
    log.append([append_to("a")])

    with pytest.raises(error):
        log.select(0, 10, 10)


def store(owner: Owner, topic: str, version: int, data: dict[str, Any]) -> None:
    state = {
        "version": version,
        "at": "2026-01-01T00:00:00Z",
        "actor": "a",
        "cause": "request/1",
        "data": data,
    }
    owner.execute(WRITE_AS_OWNER, (topic, json.dumps(state).encode()))


def test_require_readable__format_of_the_log__only_topic_and_version_are_read(
    renamed: type[Event],
) -> None:
    mapper = EventMapper()
    now = datetime(2026, 1, 1, tzinfo=UTC)

    def row(topic: str, state: bytes) -> StoredRow:
        return StoredRow(1, 1, now, "old/1", 1, topic, state)

    # Nothing after a current version is read.
    mapper.require_readable(row("test.renamed", b'{"version":2,"at":'))
    mapper.require_readable(
        row(
            "test.renamed",
            b'{"at":"2026-01-01T00:00:00Z","actor":"a","cause":"c","version":1,"data":{"color":"red"}}',
        )
    )
    for topic, version, error in (
        ("test.never-heard-of", 1, UnknownTopic),
        ("test.renamed", 3, UnknownVersion),
    ):
        with pytest.raises(error):
            mapper.require_readable(row(topic, b'{"version":%d,"data":{}}' % version))
