"""A login of the services that can be cut off alone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import psycopg
from psycopg import sql

from runtime.embedded.database import create_login
from tests.harness.databases import LOGIN_PASSWORD
from tests.harness.sessions import Owner

OTHER_LOGIN = "labledger_test_other"
END = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = %s"


@contextmanager
def other_login(owner_url: str) -> Iterator[str]:
    """Return the URL of a second login of the services."""
    create_login(owner_url, OTHER_LOGIN, LOGIN_PASSWORD)
    parts = urlsplit(owner_url)
    place = parts.netloc.rpartition("@")[2]
    try:
        yield parts._replace(netloc=f"{OTHER_LOGIN}:{LOGIN_PASSWORD}@{place}").geturl()
    finally:
        with psycopg.connect(owner_url, autocommit=True) as session:
            for statement in ("DROP OWNED BY {}", "DROP ROLE {}"):
                session.execute(sql.SQL(statement).format(sql.Identifier(OTHER_LOGIN)))


def cut_off(owner: Owner) -> None:
    """End the sessions of the other login, and refuse new ones."""
    owner.execute(sql.SQL("ALTER ROLE {} NOLOGIN").format(sql.Identifier(OTHER_LOGIN)))
    owner.execute(END, (OTHER_LOGIN,))


def let_in(owner: Owner) -> None:
    owner.execute(sql.SQL("ALTER ROLE {} LOGIN").format(sql.Identifier(OTHER_LOGIN)))
