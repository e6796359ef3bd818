"""A scheduler that does not read the skipped events has the same state."""

from __future__ import annotations

import domain.all_events  # noqa: F401  (so that there are all topics)
from domain.directory.events import DirectoryEvent
from domain.events import TOPICS, Recorded
from domain.job.events import JobChanged
from domain.scheduling.world.partition import HELD, Partition
from domain.scheduling.world.skipped_events import SKIPPED_TOPICS
from tests.domain.scheduling.contents import snapshot_of
from tests.domain.scheduling.history import live


def test_skipped_topics__each__changes_no_state() -> None:
    kept = {
        topic
        for topic, cls in TOPICS.items()
        if topic.partition(".")[0] in HELD or issubclass(cls, DirectoryEvent)
    }
    assert set(TOPICS) - kept == SKIPPED_TOPICS


def test_partition__skipped_events_are_not_applied__state_is_the_same() -> None:
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
