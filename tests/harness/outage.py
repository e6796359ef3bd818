"""A database that is unavailable for a while."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import psycopg

from tests.harness.databases import TestDatabase
from tests.harness.waiting import wait_until


@contextmanager
def unavailable(database: TestDatabase) -> Iterator[None]:
    """Terminate all sessions of the database and refuse new ones until the block ends."""
    server = urlsplit(database.owner_url)._replace(path="/postgres").geturl()

    def allow(answer: str) -> None:
        alter = f'ALTER DATABASE "{database.name}" ALLOW_CONNECTIONS {answer}'
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(alter.encode())

    allow("false")
    with psycopg.connect(server, autocommit=True) as connection:
        # A session ends a moment after the signal, and one that just begins is not in the first look.
        wait_until(lambda: not _terminated(connection, database.name), "all sessions to end")
    try:
        yield
    finally:
        allow("true")


def _terminated(connection: psycopg.Connection, name: str) -> int:
    """Terminate the sessions of a database, and return the number of those that were there."""
    query = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = %s"
    (count,) = connection.execute(query, (name,)).fetchone() or (0,)
    return int(count)
