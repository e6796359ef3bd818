"""A database with a filled lab, and sessions of the role of the boards."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import psycopg
import pytest

from tests.harness.databases import TestDatabase

if TYPE_CHECKING:
    from tests.harness.pool import ServerPool

ROLE, PASSWORD = "labledger_boards", "only-for-tests"


@pytest.fixture(scope="session")
def filled(servers: ServerPool) -> Iterator[TestDatabase]:
    """A filled lab for tests that only read."""
    from tests.boards.filled_lab import fill
    from tests.projections.projected_log import projected_log

    with servers.databases("embedded").fresh() as database:
        with projected_log(database) as models:
            fill(models)
        yield database


@contextmanager
def logged_in(database: TestDatabase) -> Iterator[psycopg.Connection]:
    """Log in as Grafana does: only a login has the settings of its role."""
    with psycopg.connect(database.owner_url, autocommit=True) as owner:
        owner.execute(f"ALTER ROLE {ROLE} LOGIN PASSWORD '{PASSWORD}'".encode())
    parts = urlsplit(database.owner_url)
    place = parts.netloc.rpartition("@")[2]
    url = parts._replace(netloc=f"{ROLE}:{PASSWORD}@{place}").geturl()
    with psycopg.connect(url, autocommit=True) as session:
        yield session


@pytest.fixture(scope="session")
def empty(servers: ServerPool) -> Iterator[TestDatabase]:
    with servers.databases("embedded").fresh() as database:
        yield database


@pytest.fixture
def rebuilt(servers: ServerPool, filled: TestDatabase) -> Iterator[TestDatabase]:
    """A copy of the filled lab, to be rebuilt."""
    with servers.databases("embedded").fresh(filled) as database:
        yield database
