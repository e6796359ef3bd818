"""Two schedulers on one log: one decides, the other stands by, and no decision is made twice."""

from __future__ import annotations

import os
import signal

from store.event_log import EventLog
from store.lease import SCHEDULER
from tests.harness.databases import TestDatabase
from tests.harness.programs import stderr_at_exit
from tests.harness.sessions import Owner, lock_waiters, owner_session
from tests.harness.waiting import wait_until
from tests.workers.conftest import Start
from tests.workers.decisions import all_decided, assert_decided_once
from tests.workers.lab import equip, submit_jobs
from tests.workers.leases import awaited_holder, holder

LEASE_SESSIONS = b"""
SELECT count(pg_terminate_backend(pid)) FROM pg_locks
WHERE locktype = 'advisory' AND granted
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""


def test_scheduler__active_one_killed_again_and_again__another_decides_what_is_open(
    log: EventLog, owner: Owner, start: Start
) -> None:
    equip(log, systems=12)
    running = [start("scheduler"), start("scheduler")]
    for _ in range(3):
        active = awaited_holder(owner, running)
        submit_jobs(log, 10)
        active.kill()  # probably while it decides
        running = [process for process in running if process is not active]
        submit_jobs(log, 5)
        wait_until(lambda: all_decided(log))
        running.append(start("scheduler"))

    assert_decided_once(log)
    assert owner.execute("SELECT epoch FROM log.leases").fetchone() == (4,)


def test_scheduler__stopped_in_an_append_while_another_takes_over__refused_and_steps_down(
    database: TestDatabase, log: EventLog, owner: Owner, start: Start
) -> None:
    equip(log, systems=4)
    zombie = start("scheduler")
    awaited_holder(owner, [zombie])
    wait_until(lambda: all_decided(log))
    following = start("scheduler")

    with owner_session(database.owner_url) as another, another.transaction():
        # The next append of the stopped one waits for the lease, which is about to get another holder.
        another.execute("SELECT log.take_lease(%s, 'in between')", (SCHEDULER,))
        submit_jobs(log, 1)  # and no more: the next append waits behind that of the stopped one
        wait_until(lambda: lock_waiters(owner) == 1)
        os.kill(zombie.pid, signal.SIGSTOP)
        assert owner.execute(LEASE_SESSIONS).fetchone() == (1,)
        wait_until(lambda: lock_waiters(owner) == 2)
    wait_until(lambda: all_decided(log))
    os.kill(zombie.pid, signal.SIGCONT)
    submit_jobs(log, 8)
    wait_until(lambda: all_decided(log))

    assert holder(owner, [zombie, following]) is following
    assert_decided_once(log)
    assert "has a later epoch" in stderr_at_exit(zombie)


def test_scheduler__lease_session_ended__goes_on_by_a_later_epoch(
    log: EventLog, owner: Owner, start: Start
) -> None:
    """A scheduler alone does not stay without its lease."""
    equip(log, systems=2)
    alone = start("scheduler")
    awaited_holder(owner, [alone])
    owner.execute(LEASE_SESSIONS)
    submit_jobs(log, 4)

    wait_until(lambda: all_decided(log))
    assert_decided_once(log)
