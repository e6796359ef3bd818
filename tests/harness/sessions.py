"""Sessions of a database, counted and terminated by a session of its owner."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg

Owner = psycopg.Connection[Any]

LOCK_WAITERS = (
    b"SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
)
END = b"""
SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name LIKE %s
"""


@contextmanager
def owner_session(url: str) -> Iterator[Owner]:
    with psycopg.connect(url, autocommit=True, application_name="test owner") as connection:
        yield connection


def named(url: str, application_name: str) -> str:
    """Return the URL with a name for its sessions."""
    return f"{url}{'&' if '?' in url else '?'}application_name={application_name}"


def lock_waiters(owner: Owner) -> int:
    """Return the number of sessions that wait for a lock. A transaction would see one snapshot."""
    return int(_one(owner.execute(LOCK_WAITERS)))


def end_sessions(owner: Owner, application_name: str = "%") -> int:
    """Terminate the sessions of an application, by default all others; return their number."""
    return int(_one(owner.execute(END, (application_name,))))


def _one(cursor: psycopg.Cursor[Any]) -> Any:
    row = cursor.fetchone()
    assert row is not None
    return row[0]
