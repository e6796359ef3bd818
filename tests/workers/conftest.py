"""A log, and the processes that work on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing

import pytest

from api.store.event_log import EventLog
from tests.harness.databases import TestDatabase
from tests.harness.programs import Program, program
from tests.harness.sessions import Owner, owner_session

Start = Callable[[str], Program]


@pytest.fixture
def log(database: TestDatabase) -> Iterator[EventLog]:
    with closing(EventLog(database.service_url)) as log:
        yield log


@pytest.fixture
def owner(database: TestDatabase) -> Iterator[Owner]:
    with owner_session(database.owner_url) as session:
        yield session


@pytest.fixture
def start(database: TestDatabase) -> Iterator[Start]:
    """Start `labledger scheduler` or `labledger projector`; what still runs at the end is killed."""
    with ExitStack() as stack:
        yield lambda command: stack.enter_context(
            program("api.cli", command, LABLEDGER_DATABASE_URL=database.service_url)
        )
