"""A database that is unavailable for a while."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import psycopg

from tests.harness.databases import TestDatabase


@contextmanager
def unavailable(database: TestDatabase) -> Iterator[None]:
    """Terminate all sessions of the database and refuse new ones until the block ends."""
    server = urlsplit(database.owner_url)._replace(path="/postgres").geturl()

    def allow(answer: str) -> None:
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(f'ALTER DATABASE "{database.name}" ALLOW_CONNECTIONS {answer}'.encode())
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", (database.name,)
            )

    allow("false")
    try:
        yield
    finally:
        allow("true")
