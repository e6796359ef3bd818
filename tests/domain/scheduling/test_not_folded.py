"""Skipping the events of `NOT_FOLDED` does not change the state of a scheduler."""

from __future__ import annotations

import domain.all_events  # noqa: F401  (so that there are all topics)
from domain.directory.events import DirectoryEvent
from domain.events import TOPICS, Recorded
from domain.job.events import JobChanged
from domain.scheduling.world.not_folded import NOT_FOLDED
from domain.scheduling.world.partition import HELD, Partition
from tests.domain.scheduling.contents import snapshot_of
from tests.domain.scheduling.history import live


def test_not_folded__each_topic__changes_no_state() -> None:
    kept = {
        topic
        for topic, cls in TOPICS.items()
        if topic.partition(".")[0] in HELD or issubclass(cls, DirectoryEvent)
    }
    assert set(TOPICS) - kept == NOT_FOLDED


def test_partition__events_passed_over__same_as_applied() -> None:
    log = live(1, bursts=20, limit=3).log
    changed = JobChanged(whiteboard="", retention_tag="scratch", product=None)
    whole, rest = Partition(), Partition()
    for recorded in log:
        whole.apply(recorded)
        rest.apply(recorded)
    position = log[-1].position + 1
    whole.apply(Recorded(position, position, log[-1].recorded_at, "job/1", 2, changed, log[0].stamp))
    rest.pass_over(position)
    assert rest.position == position
    assert snapshot_of(rest) == snapshot_of(whole)
