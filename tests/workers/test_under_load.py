"""Schedulers under load, and in steps longer than their lease."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime

import pytest

from domain.directory.events import LabControllerSilent
from domain.scheduling.decisions.decide import decide
from store.contacts import Contacts
from store.event_log import EventLog
from store.lease import SCHEDULER, Lease
from store.requests import AppendRequest, Conflict, Outcome
from store.tailer import Tailer
from tests.harness.appends import whole_log
from tests.harness.databases import TestDatabase
from tests.harness.sessions import Owner
from tests.harness.waiting import wait_until
from tests.workers.decisions import all_decided, assert_decided_once
from tests.workers.lab import equip, submit_jobs
from workers import scheduler as scheduling
from workers.consistency import ConsistencyLoop
from workers.scheduler import Scheduler, lease_for


def test_scheduler__more_triggers_wait_after_every_commit__consistency_loop_has_its_turn(
    database: TestDatabase, log: EventLog, owner: Owner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scheduling, "DECISIONS_PER_COMMIT", 1)
    equip(log, systems=3)
    submit_jobs(log, 5)
    Contacts(log).store("lab")
    owner.execute("UPDATE live.contacts SET last_heard_at = last_heard_at - interval '1 hour'")
    scheduler = Scheduler(
        log,
        Tailer(database.service_url),
        lease_for(database.service_url, "test"),
        lambda: datetime.now(UTC),
        consistency=ConsistencyLoop(Contacts(log), every_seconds=3_600),
    )

    scheduler.step(timeout_seconds=1.0)
    assert not all_decided(log), "there is still something to decide"
    assert sum(isinstance(recorded.event, LabControllerSilent) for recorded in whole_log(log)) == 1

    for _ in range(20):
        scheduler.step(timeout_seconds=0.0)
    scheduler.run(lambda: True)
    assert all_decided(log)
    assert_decided_once(log)


class Moving(EventLog):
    """A log with conflicts of the first appends. `sizes` are the numbers of decisions of each append."""

    def __init__(self, url: str, times: int) -> None:
        super().__init__(url, pool_size=1)
        self.sizes: list[int] = []
        self._times = times

    def append(self, requests: Sequence[AppendRequest]) -> list[Outcome]:
        (request,) = requests
        self.sizes.append(len({change.stamp.number for change in request.changes}))
        return [Conflict("it moved")] if len(self.sizes) <= self._times else super().append(requests)


def test_scheduler__repeated_conflicts__decides_less_at_once(
    database: TestDatabase, log: EventLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scheduling, "DECISIONS_PER_COMMIT", 8)
    equip(log, systems=1)
    submit_jobs(log, 20)
    url = database.service_url
    with closing(Moving(url, times=4)) as moving:
        scheduler = Scheduler(moving, Tailer(url), lease_for(url, "test"), lambda: datetime.now(UTC))
        # A step between two commits only gathers new sets.
        wait_until(lambda: scheduler.step(timeout_seconds=0.0) or all_decided(log), "all decisions")
        scheduler.run(lambda: True)
    assert moving.sizes[:8] == [8, 4, 2, 1, 1, 1, 2, 4]
    assert_decided_once(log)


# A lease that is to be kept is longer than the pauses of a process on a busy machine.
KEPT_SECONDS = 4.0
LOST_SECONDS = 2.0


class LongStep:
    """A replacement of `decide` that repeats a step until it is released, and then decides."""

    def __init__(self, does: Callable[[], object]) -> None:
        self.begun = threading.Event()
        self.let_go = threading.Event()
        self._does = does

    def __call__(self, *asked):  # type: ignore[no-untyped-def]
        self.begun.set()
        while not self.let_go.is_set():
            self._does()
        return decide(*asked)


@contextmanager
def deciding(database: TestDatabase, log: EventLog, step: LongStep, lease_seconds: float) -> Iterator[None]:
    """Run a scheduler in a thread; it begins with this step."""
    stop = threading.Event()

    def run() -> None:
        lease = Lease(database.service_url, SCHEDULER, "busy", lease_seconds)
        Scheduler(log, Tailer(database.service_url), lease, lambda: datetime.now(UTC)).run(stop.is_set)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        assert step.begun.wait(60)
        yield
    finally:
        stop.set()
        step.let_go.set()
        thread.join()


@contextmanager
def standby(database: TestDatabase) -> Iterator[Lease]:
    lease = Lease(database.service_url, SCHEDULER, "standby")
    try:
        yield lease
    finally:
        lease.release()


def test_scheduler__computes_for_longer_than_its_lease__keeps_it(
    database: TestDatabase, log: EventLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    equip(log, systems=1)
    step = LongStep(lambda: sum(range(10_000)))
    monkeypatch.setattr(scheduling, "decide", step)
    with standby(database) as other, deciding(database, log, step, KEPT_SECONDS):
        deadline = time.monotonic() + 1.5 * KEPT_SECONDS
        while time.monotonic() < deadline:
            assert other.try_take() is None
            time.sleep(0.1)
        step.let_go.set()
        wait_until(lambda: all_decided(log))


def test_scheduler__decides_for_longer_than_its_lease__loses_it_and_writes_nothing(
    database: TestDatabase, log: EventLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    equip(log, systems=1)
    step = LongStep(lambda: time.sleep(0.05))
    monkeypatch.setattr(scheduling, "decide", step)
    with standby(database) as other:
        with deciding(database, log, step, LOST_SECONDS):
            wait_until(other.try_take)
            step.let_go.set()
        assert other.is_held()
        assert not all_decided(log)
