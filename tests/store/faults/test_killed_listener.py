"""Fault 4: the session that listens is ended."""

from __future__ import annotations

from eventsourcing.persistence import OperationalError

from tests.harness.sessions import Owner
from tests.harness.waiting import wait_until
from tests.store.faults.following import following, next_of
from tests.store.faults.stores import Store, stored

# The stock subscription listens in a session of its own; our tailer also reads in it.
LISTENERS = b"""
FROM pg_stat_activity
WHERE datname = current_database() AND (query LIKE 'LISTEN%%' OR query LIKE '%%notification_id > $1 ORDER%%')
  AND state = 'idle' AND pid <> pg_backend_pid()
"""
COUNT_LISTENERS = b"SELECT count(*)" + LISTENERS
END_LISTENERS = b"SELECT count(pg_terminate_backend(pid))" + LISTENERS

# How long to wait for an event that never comes.
SILENCE_SECONDS = 2.5


def test_subscription__listening_session_terminated__ends_in_stock_alone(store: Store, owner: Owner) -> None:
    with following(store.recorder) as heard:
        # The stock subscription reads and listens in two threads, which has a fault of its own
        # (test_startup_race).
        wait_until(lambda: owner.execute(COUNT_LISTENERS).fetchone() == (1,))
        store.recorder.insert_events(stored("before"))
        assert next_of(heard, 10) == "before"

        # Our tailer reads on, so its session may not be idle for a moment.
        wait_until(lambda: owner.execute(END_LISTENERS).fetchone() == (1,))
        broken = next_of(heard, 10) if store.faulty else None
        store.recorder.insert_events(stored("after"))
        delivered = next_of(heard, SILENCE_SECONDS if store.faulty else 30)

    assert isinstance(broken, OperationalError) == store.faulty
    assert delivered == (None if store.faulty else "after")
