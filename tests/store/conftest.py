"""The log on each supported server; tests with the mark `promise` run on the log in memory, too."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing

import pytest

from store.event_log import EventLog
from store.in_memory import InMemoryLog
from tests.harness.databases import TestDatabase

SERVERS = ["embedded", pytest.param("system", marks=pytest.mark.soak), "in memory"]
ALL = pytest.mark.parametrize("store_database", SERVERS, indirect=True)


@pytest.hookimpl(tryfirst=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if metafunc.definition.get_closest_marker("promise"):
        # A mark overrides the parameters of the fixture.
        metafunc.definition.add_marker(ALL)


@pytest.fixture
def database(store_database: TestDatabase) -> TestDatabase:
    return store_database


@pytest.fixture
def log(store_database: TestDatabase | InMemoryLog) -> Iterator[EventLog]:
    if isinstance(store_database, InMemoryLog):
        yield store_database
    else:
        with closing(EventLog(store_database.service_url)) as log:
            yield log


@pytest.fixture
def next_epoch(log: EventLog) -> Callable[[str], int]:
    """Return a function that raises the epoch of a lease, without its lock."""

    def raised(lease: str) -> int:
        if isinstance(log, InMemoryLog):
            return log.tables.next_epoch(lease)
        ((epoch,),) = log.rows(b"SELECT log.take_lease(%s, 'next')", (lease,))
        return int(epoch)

    return raised
