"""Fault 1: a commit becomes visible after a later one with higher positions, and readers skip it."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from psycopg import sql

from tests.harness.databases import TestDatabase
from tests.harness.sessions import Owner, lock_waiters
from tests.harness.waiting import wait_until
from tests.store.faults.stores import Store, ours, stock, stored

GATE = 4711
GATE_BEFORE_COMMIT = f"""
CREATE FUNCTION public.wait_at_gate() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN PERFORM pg_advisory_xact_lock_shared({GATE}); RETURN NULL; END $$;
CREATE CONSTRAINT TRIGGER gate AFTER INSERT ON {{}} DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW WHEN (NEW.originator_id = 'slow') EXECUTE FUNCTION public.wait_at_gate()
"""


@pytest.fixture
def store(database: TestDatabase, kind: str) -> Iterator[Store]:
    """Yield the store, the stock one with POSTGRES_ENABLE_DB_FUNCTIONS, whose function does not lock the
    table.
    """
    opened = stock(database, enable_db_functions=True) if kind == "stock" else ours(database)
    with opened as store:
        yield store


def test_reading_on__slow_commit_overtaken_by_a_quick_one__skipped_by_stock_alone(
    store: Store, owner: Owner
) -> None:
    recorder = store.recorder
    owner.execute(sql.SQL(GATE_BEFORE_COMMIT).format(sql.SQL(store.table)))
    owner.execute("SELECT pg_advisory_lock(%s)", (GATE,))
    with ThreadPoolExecutor(2) as pool:
        slow = pool.submit(recorder.insert_events, stored("slow"))
        wait_until(lambda: lock_waiters(owner) == 1)
        quick = pool.submit(recorder.insert_events, stored("quick"))
        wait_until(lambda: quick.done() or lock_waiters(owner) == 2)

        seen = list(recorder.select_notifications(start=None, limit=10))
        owner.execute("SELECT pg_advisory_unlock(%s)", (GATE,))
        slow.result(60)
        quick.result(60)
        last = seen[-1].id if seen else None
        seen += recorder.select_notifications(start=last, limit=10, inclusive_of_start=False)

    delivered = [notification.originator_id for notification in seen]
    assert delivered == (["quick"] if store.faulty else ["slow", "quick"])
    assert recorder.select_events("slow"), "it is in the log in either case"
