"""Tests of the record of reads: append-only, in order, also with concurrent writers."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import astuple

import psycopg
import pytest

from store.event_log import EventLog
from store.reads import SQL, AuditedRead, record, select
from tests.harness.databases import TestDatabase
from tests.harness.sessions import Owner, lock_waiters
from tests.harness.waiting import wait_until

READ = AuditedRead("ada", "auditor", "t1", "GET", "/queue", "limit=5", "request-1")


@pytest.fixture
def log(database: TestDatabase) -> Iterator[EventLog]:
    with closing(EventLog(database.service_url, pool_size=4)) as log:
        yield log


def test_record__then_select__is_as_it_was(log: EventLog) -> None:
    first = record(log, READ)
    watched = AuditedRead("bob", "auditor", "t2", "GET", "/events", "types=ä", "request-2", True, "41")
    second = record(log, watched)
    assert [one.read_id for one in select(log, 0, 10)] == [first, second]
    assert [one.read for one in select(log, 0, 10, user="ada")] == [READ]
    assert [(one.read_id, one.read) for one in select(log, first, 10)] == [(second, watched)]
    assert [one.read_id for one in select(log, 0, 1)] == [first]
    found = select(log, 0, 10)
    assert found[0].recorded_at <= found[1].recorded_at
    assert [one.read_id for one in select(log, 0, 10, newest_first=True)] == [second, first]
    assert [one.read_id for one in select(log, 0, 10, "bob", newest_first=True)] == [second]
    assert [one.read_id for one in select(log, 0, 10, before=second)] == [first]
    assert [one.read_id for one in select(log, 0, 10, until=found[0].recorded_at)] == [first]


def test_record__one_is_not_committed_yet__the_next_waits_for_it(
    log: EventLog, owner: Owner, database: TestDatabase
) -> None:
    """A reader that continues after the second would otherwise miss the first."""
    with psycopg.connect(database.service_url) as session, ThreadPoolExecutor(1) as pool:
        session.execute(b"SET ROLE labledger_service")
        session.execute(SQL["record"], astuple(READ))
        second = pool.submit(record, log, READ)
        wait_until(lambda: lock_waiters(owner) == 1)
        assert select(log, 0, 10) == []
        session.commit()
        last = second.result(60)
    assert [one.read_id for one in select(log, 0, 10)] == [last - 1, last]


@pytest.mark.parametrize(
    "change", ["UPDATE log.reads SET path = '/'", "DELETE FROM log.reads", "TRUNCATE log.reads"]
)
def test_reads__changed_by_anybody__refused(log: EventLog, database: TestDatabase, change: str) -> None:
    record(log, READ)
    for url in (database.owner_url, database.service_url):
        with (
            psycopg.connect(url, autocommit=True) as session,
            pytest.raises(psycopg.errors.InsufficientPrivilege),
        ):
            if url == database.service_url:
                session.execute(b"SET ROLE labledger_service")
            session.execute(change.encode())
    assert len(select(log, 0, 10)) == 1
