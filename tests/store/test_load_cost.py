"""Test of the plan for `load`, which uses the index."""

from __future__ import annotations

from store.event_log import EventLog
from store.sql import SQL
from tests.harness.bulk import BulkEvents
from tests.harness.databases import TestDatabase
from tests.harness.sessions import owner_session

EVENTS = 4_000
SUBJECTS = 400
LOADED = 300


def test_load__many_subjects_of_a_short_log__no_sequential_scan(
    log: EventLog, database: TestDatabase
) -> None:
    BulkEvents(log, subjects=SUBJECTS).append(EVENTS)
    with owner_session(database.owner_url) as owner:
        owner.execute("VACUUM ANALYZE log.events")
        query = "SELECT originator_id, max(originator_version) FROM log.events GROUP BY 1 LIMIT %s"
        loaded = owner.execute(query, (LOADED,)).fetchall()
        asked = [name for name, _ in loaded], [version for _, version in loaded]
        plan = "\n".join(line for (line,) in owner.execute(b"EXPLAIN " + SQL["load"], asked).fetchall())
    assert len(loaded) == LOADED
    assert "Seq Scan" not in plan, plan
