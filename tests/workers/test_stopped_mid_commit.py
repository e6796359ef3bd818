"""A worker that is asked to stop in the middle of a commit completes the commit."""

from __future__ import annotations

import pytest

from store.event_log import EventLog
from tests.harness.databases import TestDatabase
from tests.harness.sessions import Owner, lock_waiters, owner_session
from tests.harness.waiting import wait_until
from tests.workers.conftest import Start
from tests.workers.decisions import all_decided, assert_decided_once
from tests.workers.lab import equip, submit_jobs
from tests.workers.leases import awaited_holder
from tests.workers.read_models import position


def test_scheduler__asked_to_stop_while_it_appends__what_it_decided_is_in_the_log(
    database: TestDatabase, log: EventLog, owner: Owner, start: Start
) -> None:
    equip(log, systems=3)
    scheduler = start("scheduler")
    awaited_holder(owner, [scheduler])
    wait_until(lambda: all_decided(log))
    with owner_session(database.owner_url) as another, another.transaction():
        another.execute("SELECT FROM log.leases FOR UPDATE")
        submit_jobs(log, 1)
        wait_until(lambda: lock_waiters(owner) == 1)
        scheduler.terminate()
        # Leave time for a wrong action.
        with pytest.raises(AssertionError):
            wait_until(lambda: scheduler.poll() is not None, seconds=2)
    assert scheduler.wait(60) == 0
    assert all_decided(log)
    assert_decided_once(log)


def test_projector__asked_to_stop_while_it_commits__the_page_is_in_the_read_models(
    database: TestDatabase, log: EventLog, owner: Owner, start: Start
) -> None:
    equip(log, systems=1)
    projector = start("projector")
    wait_until(lambda: position(owner) == log.end())
    with owner_session(database.owner_url) as another, another.transaction():
        another.execute("SELECT FROM read.progress FOR UPDATE")
        submit_jobs(log, 1)
        wait_until(lambda: lock_waiters(owner) == 1)
        projector.terminate()
        with pytest.raises(AssertionError):
            wait_until(lambda: projector.poll() is not None, seconds=2)
    assert projector.wait(60) == 0
    assert position(owner) == log.end()
