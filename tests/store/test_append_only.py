"""The log is append-only for the service and for the owner."""

from __future__ import annotations

import psycopg
import pytest

from store.datastore import connect
from store.event_log import EventLog
from tests.harness.appends import append_to
from tests.harness.databases import TestDatabase
from tests.harness.sessions import Owner

CHANGES = [
    f"{change} log.{table}{rest}"
    for table in ("events", "commits")
    for change, rest in (("UPDATE", " SET recorded_at = now()"), ("DELETE FROM", ""), ("TRUNCATE", ""))
]
INSERTS = [
    "INSERT INTO log.events SELECT 'forged', 1, topic, state, 2, 2, now() FROM log.events",
    "INSERT INTO log.commits SELECT 'forged', 2, 2, now(), NULL, NULL FROM log.events",
    "INSERT INTO log.leases VALUES ('scheduler/default', 1, 'forger', now())",
    "UPDATE log.leases SET epoch = 1",
    "DELETE FROM log.leases",
]
ORIGINAL = "INSERT INTO log.originals VALUES (sha256('job'), 'job')"
OF_ORIGINALS = [
    "UPDATE log.originals SET content = ''",
    "DELETE FROM log.originals",
    "TRUNCATE log.originals",
]
OF_LOG, OF_SECRET = "search_path=log, pg_temp", "search_path=secret, pg_temp"
OF_LIVE = "search_path=live, pg_temp"
WAYS_AROUND = [
    "DROP TABLE log.events",
    "ALTER TABLE log.events DISABLE TRIGGER ALL",
    "DROP TRIGGER append_only ON log.events",
    "SET session_replication_role = replica",
    "CREATE TABLE log.shadow (a int)",
    "RESET ROLE; DELETE FROM log.events",
]


@pytest.fixture(autouse=True)
def written_log(log: EventLog) -> EventLog:
    log.append([append_to("a")])
    return log


@pytest.mark.parametrize("statement", CHANGES)
def test_log__change_by_its_owner__refused(owner: Owner, log: EventLog, statement: str) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege, match="append-only"):
        owner.execute(statement.encode())
    assert log.end() == 1


@pytest.mark.parametrize("statement", CHANGES + INSERTS + WAYS_AROUND)
def test_log__anything_but_append_by_the_service__refused(
    database: TestDatabase, log: EventLog, statement: str
) -> None:
    with connect(database.service_url) as service, pytest.raises(psycopg.errors.InsufficientPrivilege):
        for part in statement.split("; "):
            service.execute(part.encode())
    assert log.end() == 1


@pytest.mark.parametrize("statement", OF_ORIGINALS)
def test_original__changed_by_anybody__refused(owner: Owner, database: TestDatabase, statement: str) -> None:
    owner.execute(ORIGINAL.encode())
    with pytest.raises(psycopg.errors.InsufficientPrivilege, match="append-only"):
        owner.execute(statement.encode())
    with connect(database.service_url) as service, pytest.raises(psycopg.errors.InsufficientPrivilege):
        service.execute(statement.encode())


def test_original__under_another_hash__refused(database: TestDatabase) -> None:
    with connect(database.service_url) as service, pytest.raises(psycopg.errors.CheckViolation):
        service.execute(b"INSERT INTO log.originals VALUES (sha256('job'), 'another job')")


@pytest.mark.parametrize("function", ["log.append", "log.take_lease"])
def test_log__function_called_by_another_role__refused(owner: Owner, function: str) -> None:
    may = "SELECT has_function_privilege('public', oid, 'execute') FROM pg_proc WHERE oid = %s::regproc"
    assert owner.execute(may, (function,)).fetchone() == (False,)


def test_log__functions_that_run_as_the_owner__have_a_fixed_search_path(owner: Owner) -> None:
    """The caller's search_path would let the caller choose the tables for the owner's rights."""
    found = owner.execute(
        "SELECT proname, proconfig FROM pg_proc WHERE prosecdef ORDER BY proname"
    ).fetchall()

    assert found == [
        ("analyze_read_models", ["search_path=pg_catalog, pg_temp"]),
        ("append", [OF_LOG, "lock_timeout=10s", "enable_seqscan=off"]),
        ("append_hangs", [OF_LOG, "lock_timeout=4s"]),
        ("append_unless_joined", [OF_LOG, "lock_timeout=10s"]),
        ("forget_passwords", [OF_SECRET]),
        ("keep_password", [OF_SECRET]),
        ("lease_number", [OF_LOG]),
        ("note_registration", [OF_LIVE]),
        ("take_lease", [OF_LOG, "lock_timeout=10s"]),
    ]
