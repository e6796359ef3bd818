"""The locks of each statement of the product, in the order in which it takes them, as pg_locks shows it.

Each lock for which a statement may wait is blocked in turn. The waiting session then has the locks that the
statement takes before it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from threading import Thread
from typing import Any

import psycopg
import pytest

from projections.projector import Projector
from projections.rebuild.rebuild import Rebuild
from projections.sql import SQL as PROJECTOR_SQL
from runtime.locks import LockClass, LockKind
from store.contacts import Contacts
from store.counters import Counters, series
from store.datastore import connect
from store.event_log import EventLog
from store.ldap_sync import LdapSyncLease
from store.lease import Lease
from store.migrate import LOCK, migrate, migrations
from store.notifications import Outbox
from store.reads import AuditedRead, record
from store.registrations import PartContents, Registrations
from store.slow_metric_turns import SlowMetricTurns
from store.sql import SQL
from tests.harness.appends import append_to
from tests.harness.databases import TestDatabase
from tests.harness.locks.installing import recorder
from tests.harness.locks.observer import PLANTED, SessionLocks, query, sessions
from tests.harness.sessions import Owner
from tests.harness.waiting import wait_until

L = LockClass
TABLE = "LOCK TABLE {} IN EXCLUSIVE MODE"
BLOCKING = {
    L.MIGRATION: f"SELECT pg_advisory_xact_lock({LOCK})",
    L.READS: "SELECT pg_advisory_xact_lock(hashtext('log.reads'))",
    L.READ_ROWS: TABLE.format("read.documents"),
}
NAME = "scheduler/test"


@dataclass(frozen=True)
class Situation:
    """A database, and the log in it."""

    database: TestDatabase
    log: EventLog

    def lease(self) -> Lease:
        return Lease(self.database.service_url, NAME, "holder")


Step = Callable[[], object]
Prepare = Callable[[Situation], Iterator[Step]]
"""A generator that prepares a statement, and yields the function that runs it."""


def append(on: Situation) -> Iterator[Step]:
    with closing_lease(on.lease()) as lease:
        fence = lease.try_take()
        yield lambda: on.log.append([append_to("lab-controller/a", fence=fence)])


def take_lease(on: Situation) -> Iterator[Step]:
    with closing_lease(on.lease()) as lease:
        yield lease.try_take


def renew_lease(on: Situation) -> Iterator[Step]:
    with closing_lease(on.lease()) as lease:
        lease.try_take()
        yield lease.renew


def service_statement(statement: bytes, *parameters: object) -> Prepare:
    def prepare(on: Situation) -> Iterator[Step]:
        with closing(connect(on.database.service_url)) as session:
            yield lambda: session.execute(statement, parameters)

    return prepare


def write_notifications(on: Situation) -> Iterator[Step]:
    outbox = Outbox(on.log, lease_seconds=60)
    progress = outbox.take()
    assert progress is not None
    yield partial(outbox.write, progress, progress, [], 0)


def append_hangs(on: Situation) -> Iterator[Step]:
    with closing(connect(on.database.service_url)) as session:
        yield lambda: session.execute("SELECT log.append_hangs()")


def add_to_counters(on: Situation) -> Iterator[Step]:
    yield Counters(on.log, lambda: {series("requests"): 1.0}).write


def take_turn(on: Situation) -> Iterator[Step]:
    yield SlowMetricTurns(on.log).take


def acquire_ldap_sync(on: Situation) -> Iterator[Step]:
    yield partial(LdapSyncLease(on.log).acquire, is_asked=True)


def heard(on: Situation) -> Iterator[Step]:
    yield partial(Contacts(on.log).store, "lc-1.example.com")


def note_registration(on: Situation) -> Iterator[Step]:
    named = PartContents(b"part", ["a"], [("a", 1)])
    yield partial(Registrations(on.log).note, "lc-1.example.com", "first", named)


def record_read(on: Situation) -> Iterator[Step]:
    yield partial(record, on.log, AuditedRead("ada", "admin", "t", "GET", "/jobs", "", "r"))


def project(on: Situation) -> Iterator[Step]:
    on.log.append([append_to("lab-controller/a")])
    with closing(connect(on.database.service_url)) as session:
        projector = Projector(session)
        yield lambda: projector.project(list(on.log.directory(on.log.end())))


def change_schema(on: Situation) -> Iterator[Step]:
    yield partial(migrate, on.database.owner_url)


def begin_rebuild(on: Situation) -> Iterator[Step]:
    begun: list[Rebuild] = []
    yield lambda: begun.append(_rebuild(on))
    for one in begun:
        one.close()


def swap(on: Situation) -> Iterator[Step]:
    with closing(_rebuild(on)) as fresh:
        fresh.complete()
        yield partial(fresh.swap, list)


def _rebuild(on: Situation) -> Rebuild:
    return Rebuild(on.database.owner_url, LOCK, [each.name for each in migrations()])


# The locks of each statement in their order, those of its session included. The first ones never wait.
STATEMENTS: dict[str, tuple[Prepare, list[LockClass], list[LockClass]]] = {
    "append": (append, [], [L.AUTHORS, L.LOG_WRITER, L.LEASE_EPOCHS]),
    "append_hangs": (append_hangs, [], [L.LOG_WRITER]),
    "take_lease": (take_lease, [L.LEASE], [L.LEASE_EPOCHS, L.LEASE_RENEWALS]),
    "renew_lease": (renew_lease, [L.LEASE], [L.LEASE_RENEWALS]),
    "end_hung_holder": (service_statement(SQL["end_hung_holder"], NAME), [], [L.LEASE_RENEWALS]),
    "add_to_counters": (add_to_counters, [], [L.COUNTER_WRITERS, L.COUNTERS]),
    "take_turn_of_slow_metrics": (take_turn, [], [L.SLOW_METRICS]),
    "acquire_ldap_sync": (acquire_ldap_sync, [], [L.LDAP_SYNC]),
    "write_notifications": (write_notifications, [], [L.NOTIFIER, L.NOTIFICATIONS]),
    "heard": (heard, [], [L.CONTACTS]),
    "note_registration": (note_registration, [], [L.REGISTRATIONS]),
    "record": (record_read, [], [L.READS]),
    "project": (project, [], [L.READ_POSITION, L.READ_ROWS]),
    "analyze": (service_statement(PROJECTOR_SQL["analyze"]), [], [L.READ_POSITION, L.READ_ROWS]),
    "migrate": (change_schema, [], [L.MIGRATION]),
    "begin_rebuild": (begin_rebuild, [L.REBUILD], [L.MIGRATION]),
    "swap": (swap, [L.REBUILD], [L.MIGRATION, L.READ_POSITION]),
}
CASES = [
    pytest.param(prepare, [*first, *waits[:number]], blocked, id=f"{name}-{blocked.name}")
    for name, (prepare, first, waits) in STATEMENTS.items()
    for number, blocked in enumerate(waits)
]


@pytest.mark.parametrize(("prepare", "before", "blocked"), CASES)
def test_statement__one_of_its_locks_blocked__has_the_declared_ones_before_it(
    prepare: Prepare,
    before: list[LockClass],
    blocked: LockClass,
    database: TestDatabase,
    log: EventLog,
    owner: Owner,
) -> None:
    with contextmanager(prepare)(Situation(database, log)) as run:
        with psycopg.connect(database.owner_url, application_name=PLANTED) as blocker:
            blocker.execute(blocking(blocked).encode())
            thread = Thread(target=run)
            thread.start()
            waiting = wait_until(lambda: waiting_session(owner), f"a session to wait for {blocked.name}")
        thread.join()
    assert waiting.waits_for() == blocked.name
    for outer in {*waiting.held} - {blocked.name}:
        recorder().nest(outer, blocked.name, "pg_locks")
    assert {LockClass[name] for name in waiting.held} - {blocked} == {*before}
    assert [*before, blocked] == [each for each in LockClass if each in {*before, blocked}], "declared order"


def blocking(lock_class: LockClass) -> str:
    return BLOCKING.get(lock_class) or "; ".join(map(TABLE.format, lock_class.value.tables))


def waiting_session(owner: Owner) -> SessionLocks | None:
    """Return the locks of the session that waits for one, if there is one."""
    rows: list[tuple[Any, ...]] = owner.execute(query(owner)).fetchall()
    return next((one for one in sessions(rows).values() if one.waits_for()), None)


@contextmanager
def closing_lease(lease: Lease) -> Iterator[Lease]:
    try:
        yield lease
    finally:
        lease.release()


def test_statements__every_class_of_the_database__is_taken_by_one() -> None:
    taken = {each for _, first, waits in STATEMENTS.values() for each in [*first, *waits]}
    kinds = (LockKind.SESSION, LockKind.TRANSACTION)
    assert taken == {each for each in LockClass if each.value.kind in kinds}
