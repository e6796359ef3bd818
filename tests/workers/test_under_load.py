"""A scheduler under load: neither endless triggers nor endless conflicts block it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime

import pytest

from domain.directory.events import LabControllerSilent
from store.contacts import Contacts
from store.event_log import EventLog
from store.requests import AppendRequest, Conflict, Outcome
from store.tailer import Tailer
from tests.harness.appends import whole_log
from tests.harness.databases import TestDatabase
from tests.harness.sessions import Owner
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


def test_scheduler__what_it_rests_on_moves_each_time__decides_less_at_once(
    database: TestDatabase, log: EventLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scheduling, "DECISIONS_PER_COMMIT", 8)
    equip(log, systems=1)
    submit_jobs(log, 20)
    url = database.service_url
    with closing(Moving(url, times=4)) as moving:
        scheduler = Scheduler(moving, Tailer(url), lease_for(url, "test"), lambda: datetime.now(UTC))
        for _ in range(20):
            scheduler.step(timeout_seconds=0.0)
        scheduler.run(lambda: True)
    assert moving.sizes[:8] == [8, 4, 2, 1, 1, 1, 2, 4]
    assert all_decided(log)
    assert_decided_once(log)
