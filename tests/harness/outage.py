"""A database that is away for a while."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import psycopg

from tests.harness.databases import TestDatabase


@contextmanager
def unavailable(database: TestDatabase) -> Iterator[None]:
    """No session of the database lives, and no new one is let in."""
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
