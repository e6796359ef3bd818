from __future__ import annotations

from api.watching.message import EventMessage
from api.watching.recent import Recent
from tests.watching.fake_watchers import happened


def _add(recent: Recent, first: int, last: int, size_bytes: int = 1) -> None:
    messages = [EventMessage.from_recorded(happened(position)) for position in range(first, last + 1)]
    recent.add(messages, [size_bytes for _ in messages])


def _positions(recent: Recent, after: int, limit: int = 1_000) -> list[int] | None:
    found = recent.after(after, limit)
    return None if found is None else [message.position for message in found]


def test_recent__asked_for_what_it_has__all_of_it_after_the_position() -> None:
    recent = Recent()
    recent.begin(10)
    _add(recent, 11, 15)
    assert _positions(recent, 10) == [11, 12, 13, 14, 15]
    assert _positions(recent, 13) == [14, 15] and _positions(recent, 15) == []


def test_recent__more_than_it_has_or_than_the_limit__returns_none() -> None:
    recent = Recent()
    recent.begin(10)
    _add(recent, 11, 15)
    assert _positions(recent, 9) is None
    assert _positions(recent, 10, limit=4) is None and _positions(recent, 11, limit=4) == [12, 13, 14, 15]


def test_recent__too_many_events_or_bytes__drops_the_older_half() -> None:
    many, large = Recent(events=10), Recent(size_bytes=1_000)
    _add(many, 1, 21)
    assert many.complete_after == 11 and _positions(many, 11) == list(range(12, 22))
    _add(large, 1, 5, size_bytes=500)
    assert large.complete_after == 3 and _positions(large, 3) == [4, 5]
    _add(large, 6, 6, size_bytes=5_000)
    # A single event may exceed the limit.
    assert large.complete_after == 6 and _positions(large, 6) == []
