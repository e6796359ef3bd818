"""A scheduler in one long step keeps its lease while it computes, and loses it while it waits."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

import pytest

from domain.scheduling.decisions.decide import decide
from store.event_log import EventLog
from store.lease import SCHEDULER, Lease
from store.tailer import Tailer
from tests.harness.databases import TestDatabase
from tests.harness.waiting import wait_until
from tests.workers.decisions import all_decided
from tests.workers.lab import equip
from workers import scheduler as scheduling
from workers.scheduler import Scheduler

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


def test_scheduler__waits_for_what_does_not_come__loses_it_and_writes_nothing(
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
