"""What is decided while a commit is appended: each decision once, as its basis demands, come what may."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from itertools import count

import pytest

from api.store.event_log import EventLog
from api.store.requests import Append, Outcome
from api.store.tailer import Tailer
from api.workers import scheduler as scheduling
from api.workers.scheduler import Scheduler, lease_for
from projections.database import DatabaseAway
from replay.verify.recomputation import Recomputation
from tests.harness.databases import TestDatabase
from tests.harness.making import whole_log
from tests.workers.decisions import all_decided, assert_decided_once
from tests.workers.lab import equip, submit_jobs

JOBS = 6
LOST, FOREIGN = "the answer is lost", "somebody else appends first"


class DisturbedLog(EventLog):
    """Appends for real. What happens at the n-th one is told."""

    def __init__(self, url: str, happens: dict[int, str], act: Callable[[], None]) -> None:
        super().__init__(url)
        self._happens = happens
        self._act = act
        self._count = count(1)

    def append(self, requests: Sequence[Append]) -> list[Outcome]:
        happens = self._happens.get(next(self._count))
        if happens == FOREIGN:
            self._act()
        outcomes = super().append(requests)
        if happens == LOST:
            raise DatabaseAway(happens)
        return outcomes


@pytest.fixture
def scheduler(
    database: TestDatabase, log: EventLog, monkeypatch: pytest.MonkeyPatch, happens: dict[int, str]
) -> Iterator[Scheduler]:
    """One decision a commit; all jobs wait already."""
    monkeypatch.setattr(scheduling, "DECISIONS_PER_COMMIT", 1)
    equip(log, systems=JOBS)
    submit_jobs(log, JOBS)
    disturbed = DisturbedLog(database.service_url, happens, lambda: submit_jobs(log, 1))
    tailer, lease = Tailer(database.service_url), lease_for(database.service_url, "test")
    with ThreadPoolExecutor(1) as beside:
        yield Scheduler(disturbed, tailer, lease, lambda: datetime.now(UTC), beside=beside)
    disturbed.close()


@pytest.mark.parametrize("happens", [{}, {2: FOREIGN}, {3: LOST}, {2: LOST, 5: FOREIGN, 6: LOST}])
def test_scheduler__decides_ahead__each_decision_once_and_as_its_basis_demands(
    scheduler: Scheduler, log: EventLog, happens: dict[int, str]
) -> None:
    for _ in range(12):
        try:
            scheduler.step(timeout_seconds=0.1)
        except DatabaseAway:
            continue
    scheduler.run(lambda: True)
    assert all_decided(log)
    assert_decided_once(log)
    again = Recomputation()
    assert not list(again.take_all(whole_log(log)))
    assert again.counts.decisions >= JOBS
    assert not again.counts.unchecked


@pytest.mark.parametrize("happens", [{}])
def test_scheduler__nobody_else_appends__next_decisions_are_made_before_the_last_are_known(
    scheduler: Scheduler, log: EventLog
) -> None:
    behind: list[bool] = []
    made = scheduler.partition.on_its_way

    def seen() -> None:
        behind.append(True)
        made()

    scheduler.partition.on_its_way = seen  # type: ignore[method-assign]
    scheduler.step(timeout_seconds=1.0)
    assert len(behind) >= JOBS - 1
    scheduler.run(lambda: True)
