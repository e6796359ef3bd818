"""Test that every class of events is folded, or skipped by name."""

from __future__ import annotations

import domain.all_events  # noqa: F401
from domain.events import TOPICS, Event
from projections.folding import FACTS, FOLDED, SKIPPED_EVENTS


def test_folding__every_event_of_the_log__has_its_row() -> None:
    every: set[type[Event]] = {cls for topic, cls in TOPICS.items() if not topic.startswith("test.")}
    assert set(FOLDED) | SKIPPED_EVENTS == every
    assert not set(FOLDED) & SKIPPED_EVENTS
    assert set(FACTS) <= set(FOLDED), "the fold reads their topics"
