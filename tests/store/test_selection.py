"""Tests of selections: the log returns the events that `Selection.has` accepts."""

from __future__ import annotations

import random

import pytest

from store.event_log import EventLog
from store.selection import Selection
from tests.harness.appends import whole_log
from tests.harness.bulk import BulkEvents

EVENTS = 600


@pytest.mark.promise
def test_select__random_selection__pages_have_its_events(log: EventLog) -> None:
    BulkEvents(log, subjects=30).append(EVENTS)
    dice, whole = random.Random(3), whole_log(log)
    found = 0
    for _ in range(50):
        selection, limit = _selection(dice), dice.choice((1, 3, 50, 1_000))
        after, upto = sorted(dice.choices(range(len(whole) + 1), k=2))
        expected = [
            one.position
            for one in whole
            if after < one.position <= upto and selection.has(one.event.TOPIC, one.subject)
        ]
        assert _by_pages(log, selection, after, upto, limit) == expected, (selection, after, upto, limit)
        found += len(expected)
    assert found > 300


@pytest.mark.promise
@pytest.mark.parametrize("subject", [None, ("recipe/*",), ("recipe/31", "system/*")])
@pytest.mark.parametrize("topics", [None, ("recipe.queued", "recipe.running")])
def test_select__hidden_topics__in_no_page_and_no_page_ends_early(
    log: EventLog, topics: tuple[str, ...] | None, subject: tuple[str, ...] | None
) -> None:
    BulkEvents(log, subjects=30).append(EVENTS)
    selection, end = Selection(topics, subject, ("recipe.queued",)), log.end()
    whole = [one for one in whole_log(log) if Selection(topics, subject).has(one.event.TOPIC, one.subject)]
    expected = [one.position for one in whole if one.event.TOPIC != "recipe.queued"]
    assert 0 < len(expected) < len(whole)
    for limit in (1, 7, 1_000):
        assert _by_pages(log, selection, 0, end, limit) == expected


def _selection(dice: random.Random) -> Selection:
    topics = dice.choice((None, ("recipe.queued",), ("system.idle", "recipe.running"), ("pool.changed",)))
    named = [f"recipe/{30 + dice.randrange(30)}" for _ in range(dice.randrange(4))]
    kinds = dice.choice(([], [], ["recipe/*"], ["system/*"], ["pool/*", "system/*"]))
    hidden = dice.choice(((), (), ("recipe.queued",), ("system.idle", "pool.changed")))
    return Selection(topics, (*named, *kinds) or None, hidden)


def _by_pages(log: EventLog, selection: Selection, after: int, upto: int, limit: int) -> list[int]:
    positions: list[int] = []
    while after < upto:
        found, after = log.select(after, upto, limit, selection)
        assert len(found) <= limit
        positions += [one.position for one in found]
    return positions
