"""Fixtures for all tests, built from `tests/harness`."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings
from xdist.workermanage import NodeManager

from runtime.embedded.database import remove_libpq_variables
from tests.harness.folders import keep_temporary_files_in_memory, run_folder
from tests.harness.locks.plugin import LockRecords

if TYPE_CHECKING:
    from store.event_log import EventLog
    from store.in_memory import InMemoryLog
    from tests.harness.databases import TestDatabase
    from tests.harness.pool import ServerPool
    from tests.harness.sessions import Owner
    from tests.in_process.environment import Environment


# Slow generation of examples is a property of the machine, not of the code.
settings.register_profile("labledger", suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("labledger")


def pytest_configure(config: pytest.Config) -> None:
    """Prepare signals, temporary files and bytecode; SIGTERM cleans up as Ctrl-C does."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    # A shell ignores Ctrl-C for background processes. The processes that tests start would inherit that, and
    # those that a test ends with Ctrl-C would never end.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # Test processes stop their servers at exit; one that is killed leaves them behind.
    NodeManager.EXIT_TIMEOUT = 120
    keep_temporary_files_in_memory()
    if not hasattr(config, "workerinput"):
        folders = ExitStack()
        folders.enter_context(run_folder())
        config.add_cleanup(folders.close)
    config.pluginmanager.register(LockRecords(config), "lock-records")
    # Tests start hundreds of programs, and each would compile its imports.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False


@pytest.fixture(scope="session")
def servers() -> Iterator[ServerPool]:
    # Imported here, so that tests of pure code run without a database driver or a composition root.
    from tests.harness.pool import ServerPool

    remove_libpq_variables()
    with ExitStack() as stack:
        yield ServerPool(stack)


@pytest.fixture
def database(servers: ServerPool) -> Iterator[TestDatabase]:
    """A fresh, migrated database on the embedded server."""
    with servers.databases("embedded").fresh() as fresh:
        yield fresh


@pytest.fixture(params=["embedded", pytest.param("system", marks=pytest.mark.soak)])
def store_database(
    servers: ServerPool, request: pytest.FixtureRequest
) -> Iterator[TestDatabase | InMemoryLog]:
    """A fresh database on each supported server; tests with the mark `promise` also get the log in memory."""
    from store.in_memory import InMemoryLog
    from tests.harness.servers import NoSecondServer

    if request.param == "in memory":
        yield InMemoryLog()
        return
    try:
        databases = servers.databases(request.param)
    except NoSecondServer as none:
        pytest.skip(str(none))
    with databases.fresh() as fresh:
        yield fresh


@pytest.fixture
def log(database: TestDatabase) -> Iterator[EventLog]:
    from store.event_log import EventLog

    with closing(EventLog(database.service_url)) as log:
        yield log


@pytest.fixture
def owner(database: TestDatabase) -> Iterator[Owner]:
    """A session of the owner of the database, who may do everything."""
    from tests.harness.sessions import owner_session

    with owner_session(database.owner_url) as session:
        yield session


@pytest.fixture(scope="session")
def environment(servers: ServerPool) -> Iterator[Environment]:
    """One database for all tests of a process, emptied before each, and two processes of the API."""
    from tests.in_process.environment import Environment

    with (
        servers.databases("embedded").fresh() as database,
        closing(Environment(database, apis=2)) as environment,
    ):
        yield environment
