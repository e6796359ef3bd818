"""Concurrent writers, and the cost of a load."""

from __future__ import annotations

from contextlib import ExitStack

from store.event_log import EventLog
from store.sql import SQL
from tests.harness.bulk import BulkEvents
from tests.harness.databases import TestDatabase
from tests.harness.programs import program, read_line, write_line
from tests.harness.sessions import owner_session
from tests.store.racing_writer import SUBJECT

WRITERS = 8
VERSIONS = 200


def test_append__eight_processes_race_200_versions__one_winner_each_and_all_others_in_conflict(
    log: EventLog, database: TestDatabase
) -> None:
    with ExitStack() as stack:
        writers = [
            stack.enter_context(
                program("tests.store.racing_writer", database.service_url, str(number), str(VERSIONS))
            )
            for number in range(WRITERS)
        ]
        assert [read_line(writer) for writer in writers] == ["ready"] * WRITERS
        for writer in writers:
            write_line(writer, "go")
        output = "".join(writer.communicate(timeout=60)[0] for writer in writers)
        assert [writer.returncode for writer in writers] == [0] * WRITERS

    won = [[int(word) for word in line.split()] for line in output.splitlines()]
    # Each version has one winner, at the reported position. No other process wrote an event.
    assert sorted(version for version, _ in won) == list(range(1, VERSIONS + 1))
    written = log.load({SUBJECT: 0})[SUBJECT]
    assert [[recorded.version, recorded.position] for recorded in written] == sorted(won)
    assert [recorded.position for recorded in written] == list(range(1, VERSIONS + 1))


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
