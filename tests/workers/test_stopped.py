"""Workers that are asked to stop, also during a commit."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime

import pytest

from domain.directory.events import LabControllerDisabled
from store.event_log import EventLog
from store.tailer import Tailer
from tests.harness.appends import whole_log
from tests.harness.databases import TestDatabase
from tests.harness.sessions import Owner, lock_waiters, owner_session
from tests.harness.waiting import wait_until
from tests.workers.conftest import Start
from tests.workers.decisions import all_decided, assert_decided_once
from tests.workers.lab import equip, put, submit_jobs
from tests.workers.leases import awaited_holder
from tests.workers.read_models import position
from workers.scheduler import Scheduler, lease_for


class StoppedMeanwhile(Tailer):
    """A tailer of one page; the next is read after the scheduler was asked to stop."""

    pages = 0

    def next_page(self, timeout_seconds: float) -> list[object]:  # type: ignore[override]
        self.pages += 1
        return [*super().next_page(timeout_seconds)] if self.pages == 1 else []


def test_scheduler__asked_to_stop_before_it_has_read_to_the_end__decides_nothing(
    database: TestDatabase, log: EventLog
) -> None:
    equip(log, systems=1)
    submit_jobs(log, 1)
    lease = lease_for(database.service_url, "test")
    with closing(StoppedMeanwhile(database.service_url)) as tailer:
        scheduler = Scheduler(log, tailer, lease, lambda: datetime.now(UTC))
        # The scheduler has read up to there: the next page comes too late.
        for row in tailer.next_page(5.0):
            scheduler.partition.apply(log.mapper.recorded(row))  # type: ignore[arg-type]
        put(log, [("lab-controller/lab", LabControllerDisabled())], after=1)
        scheduler.run(_after(2))
    assert [recorded for recorded in whole_log(log) if recorded.stamp.basis] == []


def _after(questions: int):  # type: ignore[no-untyped-def]
    """Return a `stopping` that returns False for a number of calls, and True from then on."""
    left = iter([False] * questions)
    return lambda: next(left, True)


def test_scheduler__stopped_during_an_append__its_decisions_are_in_the_log(
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
