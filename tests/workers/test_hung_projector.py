"""A projector that hangs in the middle of a page does not block another one."""

from __future__ import annotations

import os
import signal

from store.event_log import EventLog
from tests.harness.databases import TestDatabase
from tests.harness.sessions import Owner, lock_waiters, owner_session
from tests.harness.waiting import wait_until
from tests.projections.copies import copies
from tests.workers.conftest import Start
from tests.workers.lab import equip, submit_jobs
from tests.workers.read_models import forget, position, project_undisturbed

IN_TRANSACTION = b"""
SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND state = 'idle in transaction' AND pid <> pg_backend_pid()
"""


def test_projector__stopped_in_a_transaction__another_goes_on_and_it_too_when_it_wakes_up(
    database: TestDatabase, log: EventLog, owner: Owner, start: Start
) -> None:
    equip(log, systems=1)
    hung = start("projector")
    wait_until(lambda: position(owner) == log.end())
    with owner_session(database.owner_url) as another, another.transaction():
        # The projector waits for a table in its transaction, and gets it while it is stopped.
        another.execute("LOCK TABLE read.progress IN EXCLUSIVE MODE")
        submit_jobs(log, 1)
        wait_until(lambda: lock_waiters(owner) == 1)
        os.kill(hung.pid, signal.SIGSTOP)
    try:
        wait_until(lambda: owner.execute(IN_TRANSACTION).fetchone() == (1,))
        other = start("projector")
        # PostgreSQL ends the session of the stopped one after 10 s.
        wait_until(lambda: position(owner) == log.end())
    finally:
        os.kill(hung.pid, signal.SIGCONT)

    other.terminate()
    assert other.wait(60) == 0
    submit_jobs(log, 1)
    wait_until(lambda: position(owner) == log.end())
    assert hung.poll() is None
    disturbed = copies(owner)
    forget(owner)
    project_undisturbed(database.service_url, log.end(), page_size=50)
    assert copies(owner) == disturbed
