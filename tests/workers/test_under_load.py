"""Triggers that never end do not keep the consistency loop from its turn."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from api.store.contacts import Contacts
from api.store.event_log import EventLog
from api.store.tailer import Tailer
from api.workers import scheduler as scheduling
from api.workers.consistency import ConsistencyLoop
from api.workers.scheduler import Scheduler, lease_for
from domain.directory.events import LabControllerSilent
from tests.harness.databases import TestDatabase
from tests.harness.making import whole_log
from tests.workers.decisions import all_decided, assert_decided_once
from tests.workers.lab import equip, submit_jobs

LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)


def test_scheduler__more_triggers_wait_after_every_commit__consistency_loop_has_its_turn(
    database: TestDatabase, log: EventLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scheduling, "DECISIONS_PER_COMMIT", 1)
    equip(log, systems=3)
    submit_jobs(log, 5)
    Contacts(log).heard("lab", LONG_AGO)
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
