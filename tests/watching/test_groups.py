"""Groups of watchers, and recent events."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

from hypothesis import given
from hypothesis import strategies as st

from api.watching.groups import WatcherGroups
from api.watching.message import EventMessage
from api.watching.recent import Recent
from api.watching.watcher import Watcher
from store.selection import Selection
from tests.watching.fake_watchers import NAMES, happened

SUBJECTS = ("recipe/1", "recipe/2", "recipe/3", "system/a", "system/b", "pool/big")
ACTORS = ("ada", "scheduler")
TOPICS = ("recipe.queued", "system.idle", "pool.system-added")
named = st.lists(st.sampled_from((*SUBJECTS, "recipe/*", "system/*", "pool/*")), max_size=4)
selections = st.builds(
    lambda topics, subjects, hidden, unseen, partition, actor: Selection(
        tuple(topics) or None, tuple(subjects) or None, tuple(hidden), unseen, partition, actor
    ),
    st.lists(st.sampled_from(TOPICS), max_size=2),
    named,
    st.lists(st.sampled_from(TOPICS), max_size=2),
    st.frozensets(st.sampled_from(SUBJECTS), max_size=1),
    st.sampled_from((None, *NAMES)),
    st.sampled_from((None, *ACTORS)),
)


def _watcher(selection: Selection) -> Watcher:
    class Hashable(SimpleNamespace):
        __hash__ = object.__hash__

    return cast(Watcher, Hashable(selection=selection))


@given(st.lists(selections, max_size=8), st.data(), st.lists(st.sampled_from(SUBJECTS), max_size=10))
def test_groups__any_selections__each_gets_what_it_has_once_in_order(
    asked: list[Selection], data: st.DataObject, subjects: list[str]
) -> None:
    groups, watchers = WatcherGroups(), [_watcher(selection) for selection in asked]
    for one in watchers:
        groups.add(one)
    gone = data.draw(st.sets(st.sampled_from(watchers))) if watchers else set()
    for one in gone:
        groups.remove(one)
        groups.remove(one)
    messages = [
        EventMessage.from_recorded(
            happened(number, subject, partition=number % 3, actor=ACTORS[number % 2]), NAMES
        )
        for number, subject in enumerate(subjects, 1)
    ]
    found: dict[Watcher, list[int]] = {one: [] for one in watchers}
    for group, wanted in groups.messages_by_group(messages):
        for one in group.watchers:
            found[one] += [message.position for message in wanted]
    for one in watchers:
        expected = [
            message.position
            for message in messages
            if one.selection.has(message.topic, message.subject)
            and one.selection.has_partition(message.partition)
            and one.selection.has_actor(message.actor)
            and one.selection.sees(message.subjects)
        ]
        assert found[one] == ([] if one in gone else expected)


def test_message__of_a_pool_and_a_system__is_about_both_however_it_is_read() -> None:
    fresh, decoded = (EventMessage.from_recorded(happened(1, "pool/big"), NAMES) for _ in range(2))
    assert b"pool.system-added" in decoded.text
    assert fresh.subjects == decoded.subjects == ("pool/big", "system/a")


def _add(recent: Recent, first: int, last: int, size_bytes: int = 1) -> None:
    messages = [EventMessage.from_recorded(happened(position), NAMES) for position in range(first, last + 1)]
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
