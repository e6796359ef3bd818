"""Tests of a rebuild during normal operation: events arrive, a projector folds them, clients read."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Event as Flag

import pytest

from store.datastore import connect
from store.event_log import EventLog
from tests.harness.databases import TestDatabase
from tests.harness.programs import program
from tests.harness.sessions import Owner
from tests.harness.waiting import wait_until
from tests.projections.copies import copies, left_over
from tests.projections.rebuild.repeating import repeat
from tests.projections.rebuild.silent import silent
from tests.workers.lab import equip, submit_jobs
from tests.workers.read_models import forget, position, project_undisturbed
from workers.rebuild import rebuild

# One statement reads one snapshot; `at` is the highest position that the reader has seen.
SEEN = """
SELECT (SELECT count(*) FROM read.job_documents WHERE since_position <= %(at)s),
       (SELECT count(*) FROM read.recipes WHERE since_position <= %(at)s AND until_position > %(at)s),
       (SELECT count(*) FROM read.queue WHERE since_position <= %(at)s AND until_position > %(at)s),
       (SELECT count(*) FROM log.events WHERE topic = 'job.submitted' AND notification_id <= %(at)s)
"""
REBUILDS = 4


@pytest.fixture
def log(log: EventLog) -> EventLog:
    equip(log, systems=5)
    submit_jobs(log, 100)
    return log


def test_rebuild__events_come_and_a_projector_runs__no_event_lost_or_doubled_and_readers_undisturbed(
    log: EventLog, database: TestDatabase, owner: Owner
) -> None:
    done = Flag()
    with (
        program("cli", "projector", LABLEDGER_DATABASE_URL=database.service_url) as projector,
        ThreadPoolExecutor(2) as pool,
    ):
        wait_until(lambda: position(owner))
        writing = pool.submit(repeat, lambda: submit_jobs(log, 1), done)
        reading = pool.submit(read_steadily, database.service_url, done)
        try:
            reached = [rebuild(database.owner_url, silent) for _ in range(REBUILDS)]
        finally:
            done.set()
        assert writing.result(20) > 10
        assert reading.result(20) > 10
        wait_until(lambda: position(owner) == log.end())
        assert projector.poll() is None
    assert reached == sorted(set(reached)), "each began later, at a higher position"
    assert left_over(owner) == []
    assert_as_if_undisturbed(database, log, owner)


def read_steadily(url: str, done: Flag) -> int:
    """Read in one session, with prepared statements, as of the highest position seen."""
    with connect(url, prepare_threshold=0) as reader:
        at = 0

        def look() -> None:
            nonlocal at
            row = reader.execute("SELECT position FROM read.progress").fetchone()
            assert row is not None and row[0] >= at, "the read models never go back"
            at = row[0]
            found = reader.execute(SEEN, {"at": at}).fetchone()
            # Without a scheduler, the one recipe of each job stays in the queue.
            assert found is not None and len(set(found)) == 1

        return repeat(look, done)


def assert_as_if_undisturbed(database: TestDatabase, log: EventLog, owner: Owner) -> None:
    disturbed = copies(owner)
    forget(owner)
    project_undisturbed(database.service_url, log.end(), page_size=100)
    # The read models must equal those of an undisturbed projector.
    assert disturbed == copies(owner)
