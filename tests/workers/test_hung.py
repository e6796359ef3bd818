"""Schedulers and projectors that hang are replaced, and do no harm when they wake up."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from store.event_log import EventLog
from tests.harness.databases import TestDatabase
from tests.harness.programs import Program, stderr_at_exit
from tests.harness.sessions import Owner, lock_waiters, owner_session
from tests.harness.waiting import wait_until
from tests.projections.copies import copies
from tests.workers.conftest import Start
from tests.workers.decisions import all_decided, assert_decided_once
from tests.workers.lab import equip, submit_jobs
from tests.workers.leases import awaited_holder, holder
from tests.workers.read_models import forget, position, project_undisturbed

# The lease of the one that hangs. Its successor has the usual one, which does not end on a busy machine.
SHORT = {"LABLEDGER_LEASE_SECONDS": "3"}
OVERDUE = b"SELECT renewed_at + make_interval(secs => lease_seconds) < clock_timestamp() FROM live.leases"


@contextmanager
def stopped(process: Program) -> Iterator[None]:
    os.kill(process.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(process.pid, signal.SIGCONT)


def test_scheduler__holder_stopped__another_decides_and_the_zombie_writes_nothing(
    log: EventLog, owner: Owner, start: Start
) -> None:
    equip(log, systems=6)
    zombie = start("scheduler", **SHORT)
    awaited_holder(owner, [zombie])
    wait_until(lambda: all_decided(log))
    standby = start("scheduler")

    with stopped(zombie):
        submit_jobs(log, 4)
        wait_until(lambda: all_decided(log))
        assert holder(owner, [zombie, standby]) is standby
    submit_jobs(log, 4)
    wait_until(lambda: all_decided(log))

    assert holder(owner, [zombie, standby]) is standby
    assert owner.execute("SELECT epoch FROM log.leases").fetchone() == (2,)
    assert_decided_once(log)


def test_scheduler__woken_up_after_it_was_replaced__waits_and_takes_over_when_the_other_goes(
    log: EventLog, owner: Owner, start: Start
) -> None:
    equip(log, systems=4)
    zombie = start("scheduler", **SHORT)
    awaited_holder(owner, [zombie])
    standby = start("scheduler")
    with stopped(zombie):
        wait_until(lambda: holder(owner, [zombie, standby]) is standby)

    assert "the holder hung" in stderr_at_exit(standby)
    submit_jobs(log, 3)
    wait_until(lambda: all_decided(log))
    assert holder(owner, [zombie]) is zombie
    assert_decided_once(log)


def test_scheduler__stopped_alone_and_woken_up__goes_on(log: EventLog, owner: Owner, start: Start) -> None:
    """Stop the only scheduler for long: no other one takes its lease."""
    equip(log, systems=2)
    alone = start("scheduler", **SHORT)
    awaited_holder(owner, [alone])
    wait_until(lambda: all_decided(log))
    with stopped(alone):
        wait_until(lambda: owner.execute(OVERDUE).fetchone() == (True,))
    submit_jobs(log, 2)

    wait_until(lambda: all_decided(log))
    assert owner.execute("SELECT epoch FROM log.leases").fetchone() == (1,)


def test_scheduler__nothing_happens__renews_its_lease_all_the_same(
    log: EventLog, owner: Owner, start: Start
) -> None:
    idle = start("scheduler")
    awaited_holder(owner, [idle])
    moments = set()

    def renewed_twice() -> bool:
        moments.add(owner.execute("SELECT renewed_at FROM live.leases").fetchone())
        assert owner.execute(OVERDUE).fetchone() == (False,)
        return len(moments) > 2

    wait_until(renewed_twice)


IN_TRANSACTION = b"""
SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND state = 'idle in transaction' AND pid <> pg_backend_pid()
"""


@pytest.mark.soak
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
