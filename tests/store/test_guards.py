"""Attacks with the password of the services: refused ones, and blockages that end by themselves."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, suppress

import psycopg
import pytest

from api.rest.resources.readiness import CHECKS, ReadinessState
from domain.directory.events import UserPasswordSet, UserRemoved
from domain.events import TOPICS, Change, Event, event
from postgres.errors import DatabaseAway
from store.datastore import connect
from store.event_log import EventLog
from store.lease import Lease
from store.migrate import migrate
from store.passwords import delete_stale_hashes, hash_of, store_hash
from store.readiness import database_state
from store.requests import AppendRequest, Fence
from tests.harness.appends import APPEND_NOTHING, STAMP, append_to
from tests.harness.databases import LOGIN_PASSWORD, TestDatabase
from tests.harness.sessions import Owner
from tests.harness.waiting import wait_until

NAME = "scheduler/test"
# Takes the lock until the end of the transaction.
STRANGER = "labledger_test_stranger"
READ = "user_name, role, token_id, method, path, query, request_id"
VALUES = "'bob', 'auditor', 't', 'GET', '/', '', 'r'"
FORBIDDEN = [
    # Replace the valid hash.
    "UPDATE secret.passwords SET hash = 'mine'",
    "DELETE FROM secret.passwords",
    "INSERT INTO secret.passwords (password_id, user_name, hash) VALUES ('p1', 'bob', 'mine')",
    # Forge the record of a read.
    f"INSERT INTO log.reads (recorded_at, {READ}) VALUES ('2020-01-01', {VALUES})",
    f"INSERT INTO log.reads (read_id, {READ}) OVERRIDING SYSTEM VALUE VALUES (99, {VALUES})",
    # Register a topic.
    "INSERT INTO log.topics VALUES ('mine')",
    "DELETE FROM log.topics",
]


@pytest.mark.parametrize("statement", FORBIDDEN)
def test_service_role__writes_beside_the_log__refused(
    database: TestDatabase, log: EventLog, statement: str
) -> None:
    with connect(database.service_url) as service, pytest.raises(psycopg.errors.InsufficientPrivilege):
        service.execute(statement.encode())


def test_topics__migrated__are_those_of_the_code(owner: Owner) -> None:
    registered = {topic for (topic,) in owner.execute("SELECT topic FROM log.topics")}
    assert {topic for topic in registered if not topic.startswith("test.")} == {
        topic for topic in TOPICS if not topic.startswith("test.")
    }


@pytest.fixture
def never_registered() -> Iterator[type[Event]]:
    @event("test.never-registered")
    class NeverRegistered(Event):
        pass

    yield NeverRegistered
    del TOPICS["test.never-registered"]


def test_append__topic_that_no_migration_registered__refused_and_nothing_stored(
    log: EventLog, never_registered: type[Event]
) -> None:
    request = AppendRequest("unheard-of", (Change("a", never_registered(), STAMP),), {"a": 0})
    with pytest.raises(Exception, match=r"no migration has registered the topic test\.never-registered"):
        log.append([request])
    assert log.end() == 0
    log.append([append_to("a")])
    assert log.end() == 1


@pytest.fixture
def stranger(owner: Owner) -> Iterator[str]:
    owner.execute(f"CREATE ROLE {STRANGER} LOGIN PASSWORD '{LOGIN_PASSWORD}'".encode())
    yield STRANGER
    owner.execute(f"DROP ROLE {STRANGER}".encode())


def test_migrate__public_database__allows_only_the_services(
    database: TestDatabase, owner: Owner, stranger: str
) -> None:
    migrate(database.owner_url)
    url = database.service_url.replace("labledger_test:", f"{stranger}:", 1)
    with pytest.raises(psycopg.OperationalError, match="permission denied for database"):
        psycopg.connect(url)
    may = "SELECT has_database_privilege('public', current_database(), 'TEMPORARY')"
    assert owner.execute(may).fetchone() == (False,)
    with connect(database.service_url) as service:
        assert service.execute("SELECT live.has_room()").fetchone() == (True,)


def make_valid(log: EventLog, password_id: str, version: int) -> None:
    change = Change("user/bob", UserPasswordSet(password_id=password_id), STAMP)
    log.append([AppendRequest(f"set {version}", (change,), {"user/bob": version})])


def test_store_hash__of_a_valid_id__refused_and_the_first_stays(log: EventLog) -> None:
    store_hash(log, "p1", "bob", "first")
    store_hash(log, "p1", "bob", "second")
    make_valid(log, "p1", 0)
    with pytest.raises(Exception, match="counts already"):
        store_hash(log, "p1", "bob", "third")
    delete_stale_hashes(log, "bob")
    assert hash_of(log, "p1", "bob") == "first"
    assert hash_of(log, "p1", "eve") is None


def test_delete_stale_hashes__of_a_user__valid_ones_stay(log: EventLog, owner: Owner) -> None:
    for number, password_id in enumerate(("p1", "p2")):
        store_hash(log, password_id, "bob", password_id)
        make_valid(log, password_id, number)
    store_hash(log, "young", "bob", "young")
    store_hash(log, "old", "bob", "old")
    owner.execute(
        "UPDATE secret.passwords SET made_at = made_at - interval '2 h' WHERE password_id <> 'young'"
    )
    delete_stale_hashes(log, "bob")
    assert [hash_of(log, name, "bob") for name in ("p1", "p2", "young", "old")] == [None, "p2", "young", None]
    log.append([AppendRequest("gone", (Change("user/bob", UserRemoved(), STAMP),), {"user/bob": 2})])
    delete_stale_hashes(log, "bob")
    assert hash_of(log, "p2", "bob") is None


def impatient(owner: Owner, function: str, old: str, new: str) -> None:
    """Replace a time in a function by one that a test can wait for."""
    (definition,) = owner.execute("SELECT pg_get_functiondef(%s::regproc)", (function,)).fetchone() or ("",)
    assert old in definition
    owner.execute(definition.replace(old, new).encode())


@pytest.mark.parametrize("mode", ["EXCLUSIVE", "ROW SHARE"])
def test_append__another_session_holds_the_lock__fails_soon_and_readiness_reports_it(
    log: EventLog, owner: Owner, mode: str
) -> None:
    owner.execute("ALTER FUNCTION log.append SET lock_timeout = '100ms'")
    owner.execute("ALTER FUNCTION log.append_hangs SET lock_timeout = '100ms'")
    assert not database_state(log, 0).append_hangs
    with owner.transaction():
        owner.execute(f"LOCK TABLE log.writer IN {mode} MODE".encode())
        with pytest.raises(DatabaseAway, match="lock timeout"):
            log.append([append_to("a")])
        said = database_state(log, 0)
        finding = CHECKS["database"](ReadinessState(said, False, 0, 0, 0, 0.0))
        assert finding.fault == "an append hangs and blocks all others"
    log.append([append_to("a")])


def test_append_hangs__asked_in_a_transaction__keeps_no_lock(log: EventLog, database: TestDatabase) -> None:
    with closing(connect(database.service_url)) as asking:
        asking.execute("BEGIN")
        assert asking.execute("SELECT log.append_hangs()").fetchone() == (False,)
        assert log.append([append_to("a")])


def test_append__session_of_the_services_keeps_the_lock__is_ended(
    log: EventLog, database: TestDatabase, owner: Owner
) -> None:
    """The session has switched off the timeout of its transaction."""
    owner.execute("ALTER FUNCTION log.append SET lock_timeout = '100ms'")
    impatient(owner, "live.end_hung_writers", "30 s", "0.3 s")
    with closing(connect(database.service_url)) as hung:
        hung.execute("SET idle_in_transaction_session_timeout = 0")
        hung.execute("BEGIN")
        hung.execute(APPEND_NOTHING)

        def appended() -> bool:
            with suppress(DatabaseAway):
                return bool(log.append([append_to("a")]))
            return False

        wait_until(appended, "the hung session to be ended")
        with pytest.raises(psycopg.OperationalError):
            hung.execute("SELECT 1")


@pytest.mark.parametrize("forged", ["", "renewed_at = 'infinity'", "lease_seconds = 1e15"])
def test_lease__lock_kept_by_a_session_that_is_no_holder__is_ended(
    database: TestDatabase, owner: Owner, forged: str
) -> None:
    with closing(connect(database.service_url)) as hung:
        first = Lease(database.service_url, NAME, "first", 0.1)
        assert first.try_take() is not None
        first.release()
        wait_until(
            lambda: (
                hung.execute("SELECT pg_try_advisory_lock(19533, log.lease_number(%s))", (NAME,)).fetchone()
                == (True,)
            )
        )
        if forged:
            hung.execute(f"UPDATE live.leases SET {forged}".encode())
            if "lease_seconds" in forged:
                owner.execute("UPDATE live.leases SET renewed_at = renewed_at - interval '4 hours'")
        second = Lease(database.service_url, NAME, "second", 0.1)
        assert wait_until(second.try_take, "the stranger to be ended") == Fence(NAME, 2)
        second.release()
