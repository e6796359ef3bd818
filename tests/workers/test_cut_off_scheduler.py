"""A scheduler that cannot read the log loses its lease, even if its other sessions work."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime

import pytest

from store.event_log import EventLog
from store.lease import SCHEDULER, Lease
from store.readiness import database_state
from store.tailer import Tailer
from tests.harness.databases import TestDatabase
from tests.harness.sessions import Owner
from tests.harness.waiting import wait_until
from tests.workers.logins import cut_off, let_in, other_login
from workers import heartbeat
from workers.heartbeat import Progress
from workers.scheduler import Scheduler

LEASE_SECONDS = 2.0


@contextmanager
def scheduling(log: EventLog, database: TestDatabase) -> Iterator[None]:
    """Run a scheduler in a thread; it reads by another login, and holds the lease at first."""
    stop = threading.Event()

    def run(tailer: Tailer) -> None:
        lease = Lease(database.service_url, SCHEDULER, "cut off", LEASE_SECONDS)
        Scheduler(log, tailer, lease, lambda: datetime.now(UTC)).run(stop.is_set)

    with other_login(database.owner_url) as url, closing(Tailer(url)) as tailer:
        thread = threading.Thread(target=run, args=(tailer,))
        thread.start()
        try:
            wait_until(lambda: database_state(log, SCHEDULER, 0).has_live_holder)
            yield
        finally:
            stop.set()
            thread.join()


def test_scheduler__cannot_read_the_log__is_said_to_hang_and_replaced(
    database: TestDatabase, log: EventLog, owner: Owner
) -> None:
    with scheduling(log, database):
        cut_off(owner)
        wait_until(lambda: not database_state(log, SCHEDULER, 0).has_live_holder)
        with closing_lease(database) as standby:
            wait_until(standby.try_take)
            assert standby.is_held()


def test_scheduler__cannot_read_for_a_while_and_nobody_replaced_it__goes_on(
    database: TestDatabase, log: EventLog, owner: Owner
) -> None:
    with scheduling(log, database):
        cut_off(owner)
        wait_until(lambda: not database_state(log, SCHEDULER, 0).has_live_holder)
        let_in(owner)
        wait_until(lambda: database_state(log, SCHEDULER, 0).has_live_holder)


def test_progress__work_fails__is_none_until_a_round_is_completed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Connecting again and again takes CPU time, too."""
    now = [0.0]
    monkeypatch.setattr(heartbeat, "_cpu_clock", lambda: lambda: now[0])
    progress = Progress(clock=lambda: now[0])

    def later() -> bool:
        now[0] += 1
        return progress.is_made()

    assert later()
    progress.fail()
    assert not later()
    progress.complete_round()
    assert later()
    assert later()


@contextmanager
def closing_lease(database: TestDatabase) -> Iterator[Lease]:
    lease = Lease(database.service_url, SCHEDULER, "standby")
    try:
        yield lease
    finally:
        lease.release()
