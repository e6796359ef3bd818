"""Reads of one partition cost nothing more for the events of others."""

from __future__ import annotations

import pytest

from store.event_log import EventLog
from store.sql import BOUNDED
from tests.harness.sessions import Owner

MANY = 20_000
FILL = b"""
INSERT INTO log.events
    (originator_id, originator_version, topic, state, notification_id, commit_end, recorded_at, partition)
SELECT 'lab-controller/' || g, 1, 'lab-controller.enabled', '{}', g, g, now(),
       CASE WHEN g <= 10 THEN 0 ELSE 1 END
FROM generate_series(1, %s) AS g
"""
FETCHED = b"""
SELECT coalesce(sum(idx_tup_fetch + seq_tup_read), 0) FROM pg_stat_xact_user_tables WHERE relname = 'events'
"""


@pytest.fixture
def full(log: EventLog, owner: Owner) -> Owner:
    """Fill the log with few events of all partitions and then many of one, with statistics."""
    owner.execute(FILL, (MANY,))
    owner.execute(b"ANALYZE log.events")
    return owner


@pytest.mark.parametrize(("partition", "last"), [(0, 10), (1, MANY), (2, 0)])
def test_last_before__many_events_of_another_partition__reads_only_the_last_row(
    full: Owner, partition: int, last: int
) -> None:
    with full.transaction():
        found = full.execute(b"SELECT log.last_before(%s, %s)", (MANY + 1, partition)).fetchone()
        fetched = full.execute(FETCHED).fetchone()
    assert found == (last,)
    assert fetched is not None and fetched[0] <= 1


@pytest.mark.parametrize("topics", [[], ["lab-controller.enabled"]])
def test_events_of_a_partition__many_of_another__reads_only_its_own(full: Owner, topics: list[str]) -> None:
    params = {"partition": 0, "after": 4, "upto": MANY, "limit": 100, "bytes": 1 << 20, "hidden": []}
    params |= {"everything": not topics, "topics": topics, "subjects": []}
    with full.transaction():
        found = full.execute(BOUNDED["of_partition"], params).fetchall()
        fetched = full.execute(FETCHED).fetchone()
    assert [row[0] for row in found] == list(range(5, 11))
    assert fetched is not None and fetched[0] <= len(found)
