"""Counters of processes, summed in one table, also if a process or the database fails."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime
from typing import Any

import pytest

from api.metrics import counters
from api.metrics.counters import CounterWriter
from domain.scheduling.decisions.timers import Findings
from postgres.errors import DatabaseAway
from projections.sql import QUERIES
from store.contacts import Contacts
from store.counters import Counters, Series, series
from store.event_log import EventLog
from store.tailer import Tailer, TailerCounters
from tests.harness.databases import TestDatabase
from tests.harness.sessions import Owner
from tests.harness.waiting import wait_until
from tests.workers.lab import equip
from workers import projector
from workers.consistency import ConsistencyLoop
from workers.scheduler import Scheduler, SchedulerCounters, lease_for

TABLE = "SELECT name, labels, value FROM live.counters ORDER BY name, labels"
WATCHERS = "SELECT watchers FROM live.counter_writers WHERE watchers > 0"
ASKED, ANSWERED = series("asked"), series("answered", status="2xx", method="GET")


def table(owner: Owner) -> dict[Series, float]:
    return {series(name, **labels): value for name, labels, value in owner.execute(TABLE)}


def test_counters__written_again_and_by_others__each_count_is_added_once(log: EventLog, owner: Owner) -> None:
    here: dict[Series, float] = {ASKED: 2, ANSWERED: 0.25}
    counters = Counters(log, lambda: here)
    for _ in range(2):
        counters.write()
    here[ASKED] += 3
    counters.write()
    # Another process, whose counters begin at 0.
    Counters(log, lambda: {ASKED: 10}).write()
    assert table(owner) == {ASKED: 15, ANSWERED: 0.25}


class Forgetful(EventLog):
    """A log that loses the answer to the first write."""

    lost = False

    def rows(self, query: bytes, params: Any) -> list[tuple[Any, ...]]:
        found = super().rows(query, params)
        if not self.lost:
            self.lost = True
            raise DatabaseAway("the answer was lost")
        return found


def test_counters__answer_was_lost__nothing_is_added_twice(database: TestDatabase, owner: Owner) -> None:
    here: Counter[Series] = Counter({ASKED: 2})
    with closing(Forgetful(database.service_url)) as forgetful:
        counters = Counters(forgetful, lambda: here)
        with pytest.raises(DatabaseAway):
            counters.write()
        here[ASKED] += 1
        counters.write()
    assert table(owner) == {ASKED: 3}


def test_counters__many_write_the_same_ones_at_once__all_of_it_is_there(
    database: TestDatabase, owner: Owner
) -> None:
    """Write the same counters in different orders: no deadlock follows."""
    every = [series("asked", number=str(number)) for number in range(40)]

    def write(writer: int) -> None:
        here: dict[Series, float] = {}
        with closing(EventLog(database.service_url, pool_size=1)) as log:
            counters = Counters(log, lambda: here)
            for time in range(1, 26):
                here.update(dict.fromkeys(every if writer % 2 else every[::-1], time))
                counters.write()

    with ThreadPoolExecutor(6) as threads:
        list(threads.map(write, range(6)))
    assert table(owner) == dict.fromkeys(every, 6 * 25)


def held_back(owner: Owner) -> dict[str, int]:
    return dict(owner.execute(QUERIES["held_back_recipes"]).fetchall())


def test_held_back__schedulers_of_two_partitions__add_up_and_a_standby_counts_for_nothing(
    log: EventLog, owner: Owner
) -> None:
    def scheduler(partition: int, *counts: dict[str, int]) -> Counters:
        following = iter(counts)
        return Counters(log, dict, held_back=lambda: next(following), partition=partition)

    previous, default = scheduler(1, {"dependency": 50}), scheduler(1, {"dependency": 4, "job-filter": 1})
    west, standby = scheduler(2, {"dependency": 3}, {}), scheduler(1, {})
    for each in (previous, default, west, standby):
        each.write()
    assert held_back(owner) == {"dependency": 7, "job-filter": 1}
    west.write()
    assert held_back(owner) == {"dependency": 4, "job-filter": 1}


def test_writer__stopped__has_written_the_last_of_it(log: EventLog, owner: Owner) -> None:
    here: Counter[Series] = Counter()
    writer = CounterWriter(Counters(log, lambda: here, watchers=lambda: 7), every_seconds=0.01)
    with writer:
        here[ASKED] += 1
        wait_until(lambda: table(owner) == {ASKED: 1} and owner.execute(WATCHERS).fetchall() == [(7,)])
        here[ASKED] += 1
    assert table(owner) == {ASKED: 2}


def test_writer__something_goes_wrong_once__goes_on(
    log: EventLog, owner: Owner, caplog: pytest.LogCaptureFixture
) -> None:
    wrong = iter([True])

    def totals() -> dict[Series, float]:
        if next(wrong, False):
            raise ValueError("a fault")
        return {ASKED: 1}

    with CounterWriter(Counters(log, totals), every_seconds=0.01):
        wait_until(lambda: table(owner) == {ASKED: 1})
    assert "counters not stored" in caplog.text


def test_scheduler__two_systems_asked__decisions_and_their_commit_are_counted(
    log: EventLog, database: TestDatabase, owner: Owner
) -> None:
    equip(log, systems=2)
    tailer = Tailer(database.service_url)
    consistency = ConsistencyLoop(Contacts(log), every_seconds=0.0)
    lease = lease_for(database.service_url, "test")
    scheduler = Scheduler(log, tailer, lease, lambda: datetime.now(UTC), consistency=consistency)
    scheduler.step(timeout_seconds=1.0)
    scheduler.run(lambda: True)
    Counters(
        log, lambda: counters.scheduling(scheduler.counters, consistency.findings, {}, tailer.counters)
    ).write()
    assert table(owner) == {
        series("scheduler_decisions", trigger="pending-system"): 2,
        series("scheduler_commits"): 1,
        series("scheduler_events"): 2,
    }


def test_findings__of_the_consistency_loop__are_counted_by_name() -> None:
    findings = Findings(watchdogs_expired=3, violations=Counter(usage=1))
    counted = counters.scheduling(SchedulerCounters(), findings, {"moved": 2}, TailerCounters())
    assert counted[series("consistency_findings", finding="watchdogs_expired")] == 3
    assert counted[series("conservation_violations", law="usage")] == 1
    assert counted[series("consistency_withheld_turns", doubt="moved")] == 2


def test_projector__followed_the_log__pages_and_events_are_counted(
    log: EventLog, database: TestDatabase, owner: Owner
) -> None:
    equip(log, systems=2)
    folded, tailed = projector.ProjectorCounters(), TailerCounters()
    projector.run(database.service_url, lambda: folded.events > 0, folded, tailed)
    Counters(log, lambda: counters.projecting(folded, tailed)).write()
    counted = table(owner)
    events = owner.execute("SELECT count(*) FROM log.events").fetchone()
    assert (counted[series("projector_events")],) == events
    assert counted[series("projector_pages")] >= 1
