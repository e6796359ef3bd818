"""Every kind of event is either shown by a read model or named as not shown."""

from __future__ import annotations

import domain.all_events  # noqa: F401
from domain.events import TOPICS, Event
from projections.folding import FACTS, FOLDED, SKIPPED_EVENTS


def test_folding__every_event_of_the_log__has_its_row() -> None:
    known: set[type[Event]] = {cls for topic, cls in TOPICS.items() if not topic.startswith("test.")}
    assert set(FOLDED) | SKIPPED_EVENTS == known
    assert not set(FOLDED) & SKIPPED_EVENTS
    assert set(FACTS) <= set(FOLDED), "their topics are read for them"
