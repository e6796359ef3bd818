"""Projectors that are killed, doubled or behind: the read models equal those of an undisturbed one."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count, islice
from threading import Event as Flag
from typing import Any

import pytest
from psycopg import Cursor

from domain.directory.events import PoolRegistered
from domain.events import Recorded
from projections.projector import Projector
from store.datastore import connect
from store.event_log import EventLog
from store.migrate import migrate
from store.tailer import Tailer, TailerCounters
from tests.harness.databases import TestDatabase
from tests.harness.programs import Program
from tests.harness.sessions import Owner
from tests.harness.waiting import wait_until
from tests.projections.copies import copies
from tests.projections.happened import lab, registered
from tests.projections.projected_log import ProjectedLog
from tests.projections.random_history import LABS, POOLS, anything
from tests.projections.recipe_lives import Commit, lives
from tests.projections.spread_times import spread_times
from tests.workers.conftest import Start
from tests.workers.lab import equip, submit_jobs
from tests.workers.read_models import forget, position, project_undisturbed
from workers import projector
from workers.rebuild import check

# The projector then spends most of its time in transactions, where it is to be killed.
SLOW_PAGES = b"""
CREATE FUNCTION read.slowly() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN PERFORM pg_sleep(0.02); RETURN NEW; END $$;
CREATE TRIGGER slowly BEFORE UPDATE ON read.progress FOR EACH ROW EXECUTE FUNCTION read.slowly()
"""
SLOW_HOURS = b"""
CREATE FUNCTION read.slow_hours() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN PERFORM pg_sleep(0.005); RETURN NEW; END $$;
CREATE TRIGGER slow_hours BEFORE INSERT ON read.usage_hours FOR EACH ROW EXECUTE FUNCTION read.slow_hours()
"""
CLOSING = b"""
SELECT pid FROM pg_stat_activity
WHERE state = 'active' AND pid <> pg_backend_pid() AND query LIKE '%close_hours%'
"""
# -1 for a table that was never analyzed.
ANALYZED_ROWS = b"SELECT reltuples::integer FROM pg_class WHERE oid = 'read.systems'::regclass"
SESSION = b"SELECT FROM pg_stat_activity WHERE pid = %s"
KILLS = 3


@pytest.fixture
def models(log: EventLog, database: TestDatabase) -> Iterator[ProjectedLog]:
    with connect(database.service_url) as connection:
        yield ProjectedLog(log, connection)


def test_projector__killed_again_and_again__read_models_of_an_uninterrupted_one(
    database: TestDatabase, models: ProjectedLog, owner: Owner, start: Start
) -> None:
    dice = random.Random(20261121)
    commits = happening(dice)
    owner.execute(SLOW_PAGES)
    with ThreadPoolExecutor(1) as pool:
        reached = 0
        for _ in range(KILLS):
            writing = pool.submit(write_steadily, models, islice(commits, 60))
            started = start("projector")
            # The projector works first; then the moment is random.
            until_it_moves(owner, reached, started)
            time.sleep(dice.uniform(0, 0.2))
            started.kill()
            started.wait()
            writing.result(60)
            reached = position(owner)
    start("projector")
    wait_until(lambda: position(owner) == models.log.end())

    assert_as_if_undisturbed(database, models.log, owner)


@pytest.mark.soak
def test_projector__killed_while_it_closes_hours__sums_of_an_uninterrupted_one(
    database: TestDatabase, models: ProjectedLog, owner: Owner, start: Start
) -> None:
    dice = random.Random(20261227)
    commits, day = happening(dice), datetime(2026, 11, 1, tzinfo=UTC)
    owner.execute(SLOW_HOURS)
    for kill in range(KILLS):
        before = models.log.end()
        for commit in islice(commits, 60):
            models.write(*commit)
        spread_times(owner, dice, hours=24, after=before, end=day + kill * timedelta(days=1))
        started = start("projector")
        wait_until(lambda: owner.execute(CLOSING).fetchall())
        started.kill()
        started.wait()
    start("projector")
    wait_until(lambda: position(owner) == models.log.end())

    assert copies(owner)["usage_hours"]
    assert_as_if_undisturbed(database, models.log, owner)


def test_projector__two_at_once__nothing_doubled(
    database: TestDatabase, models: ProjectedLog, owner: Owner, start: Start
) -> None:
    owner.execute(SLOW_PAGES)
    both = [start("projector"), start("projector")]
    write_steadily(models, islice(happening(random.Random(2)), 300))
    wait_until(lambda: position(owner) == models.log.end())

    assert_as_if_undisturbed(database, models.log, owner)
    assert all(each.poll() is None for each in both)


@pytest.mark.soak
def test_projector__another_at_work__stands_by_and_takes_over_when_it_stops(
    database: TestDatabase,
    models: ProjectedLog,
    owner: Owner,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    # On a slow machine, too, no projector is taken to be stopped while events are written.
    monkeypatch.setattr(projector, "STAND_BY_SECONDS", 4.0)
    caplog.set_level("INFO")
    commits = happening(random.Random(3))
    with working(database.service_url) as first, working(database.service_url) as second:
        wait_until(lambda: models.write(*next(commits)) and "standing by" in caplog.text)
        before = [(each, each.pages) for each in (first, second)]
        write_steadily(models, islice(commits, 200))
        wait_until(lambda: position(owner) == models.log.end())
        (at_work,) = (each for each, pages in before if each.pages > pages)
        at_work.stopping.set()
        write_steadily(models, islice(commits, 3))
        wait_until(lambda: position(owner) == models.log.end())
        assert all(each.pages > pages for each, pages in before)
    assert caplog.text.count("standing by") == 1
    assert_as_if_undisturbed(database, models.log, owner)


def test_projector__hung_between_two_statements__goes_on_when_it_wakes_up(
    database: TestDatabase, models: ProjectedLog, owner: Owner, monkeypatch: pytest.MonkeyPatch
) -> None:
    move, hung = Projector._move, Flag()

    def hang_once(self: Projector, cursor: Cursor[Any], last: Recorded) -> None:
        move(self, cursor, last)
        if not hung.is_set():
            cursor.execute("SET LOCAL idle_in_transaction_session_timeout = '100ms'")
            pid = cursor.connection.info.backend_pid
            wait_until(lambda: not owner.execute(SESSION, (pid,)).fetchall())
            hung.set()

    monkeypatch.setattr(Projector, "_move", hang_once)
    with working(database.service_url):
        write_steadily(models, islice(happening(random.Random(4)), 3))
        wait_until(lambda: position(owner) == models.log.end())
    assert hung.is_set()
    assert check(database.owner_url, lambda position, end: None, 1) == (models.log.end(), [])


def test_projector__first_systems_of_a_lab__planner_learns_that_their_rows_are_open(
    models: ProjectedLog, owner: Owner, start: Start
) -> None:
    start("projector")
    models.write(*(lab(name) for name in LABS))
    models.write(*(registered(f"s{number}") for number in range(projector.ANALYZED_LENGTHS[0])))
    wait_until(lambda: position(owner) == models.log.end())
    wait_until(lambda: owner.execute(ANALYZED_ROWS).fetchall() == [(projector.ANALYZED_LENGTHS[0],)])


@dataclass
class Working(projector.ProjectorCounters):
    """Run a projector in a thread."""

    stopping: Flag = field(default_factory=Flag)


@contextmanager
def working(url: str) -> Iterator[Working]:
    one = Working()
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(projector.run, url, one.stopping.is_set, one, TailerCounters())
        try:
            yield one
        finally:
            one.stopping.set()
        running.result(60)


def happening(dice: random.Random) -> Iterator[Commit]:
    """Yield events without end: recipes proceed and systems change, also as no lab would do."""
    systems = "abcdef"
    yield [*(lab(name) for name in LABS), *((f"pool/{name}", PoolRegistered(None)) for name in POOLS)]
    yield [registered(fqdn) for fqdn in systems]
    for first in count(1, 100):
        for commit in lives(dice, recipes=100, first=first):
            yield commit
            yield list(anything(dice, systems))


def until_it_moves(owner: Owner, past: int, started: Program) -> None:
    wait_until(lambda: position(owner) > past or started.poll() is not None)
    assert started.poll() is None, started.communicate()[1]


def write_steadily(models: ProjectedLog, commits: Iterator[Commit]) -> None:
    for commit in commits:
        models.write(*commit)
        time.sleep(0.005)


def assert_as_if_undisturbed(database: TestDatabase, log: EventLog, owner: Owner) -> None:
    """Assert that the tables equal those of other pages and of a rebuild, byte for byte."""
    assert check(database.owner_url, lambda position, end: None, 1) == (log.end(), [])
    disturbed = copies(owner)
    forget(owner)
    project_undisturbed(database.service_url, log.end(), page_size=100)
    assert disturbed == copies(owner)
    assert disturbed["durations"] and disturbed["systems"], "there is something to compare"


def test_pace__many_commits_come_together__more_are_waited_for(log: EventLog) -> None:
    equip(log, systems=1)
    one, two = submit_jobs(log, 2)
    with closing(Tailer(log.datastore.url)) as tailer:
        rows = tailer.next_page(0)
    last, before = ([row for row in rows if row.subject == f"recipe/{number}"] for number in (two, one))
    assert projector.min_page_seconds(before + last) == projector.MIN_PAGE_SECONDS
    assert projector.min_page_seconds(rows) == projector.MIN_PAGE_SECONDS_UNDER_LOAD


def test_projector__processors_do_not_suffice_for_all__has_the_lowest_priority(
    database: TestDatabase, log: EventLog, owner: Owner, start: Start
) -> None:
    equip(log, systems=1)
    started = start("projector")
    wait_until(lambda: position(owner) == log.end())
    assert os.getpriority(os.PRIO_PROCESS, started.pid) > os.getpriority(os.PRIO_PROCESS, os.getpid())


UNMIGRATED = b"""
ALTER TABLE read.progress DROP COLUMN whole_from;
DELETE FROM public.labledger_migrations WHERE name = '2026-11-23-whole'
"""


@pytest.fixture
def end(log: EventLog, database: TestDatabase) -> int:
    """Return the end of a log that has events."""
    with connect(database.service_url) as connection:
        models = ProjectedLog(log, connection)
        for name in "abc":
            models.write((f"pool/{name}", PoolRegistered(None)))
    return log.end()


def whole_from(owner: Owner) -> int:
    row = owner.execute("SELECT whole_from FROM read.progress").fetchone()
    assert row is not None
    return int(row[0])


def begin(database: TestDatabase) -> None:
    with connect(database.service_url) as connection:
        Projector(connection)


def test_projector__empty_log__whole_at_once(database: TestDatabase, owner: Owner) -> None:
    begin(database)
    assert whole_from(owner) == 0


def test_projector__nothing_folded_yet__whole_where_the_log_stood(
    database: TestDatabase, owner: Owner, end: int
) -> None:
    forget(owner)
    begin(database)
    assert whole_from(owner) == end > 0


def test_projector__something_folded__as_it_was(database: TestDatabase, owner: Owner, end: int) -> None:
    forget(owner)
    project_undisturbed(database.service_url, 1, page_size=1)
    owner.execute("UPDATE read.progress SET whole_from = 1")
    begin(database)
    assert whole_from(owner) == 1


def test_migrate__log_of_an_older_version__whole_where_it_stood(
    database: TestDatabase, owner: Owner, end: int
) -> None:
    forget(owner)
    owner.execute(UNMIGRATED)
    migrate(database.owner_url)
    assert whole_from(owner) == end > 0
