"""The log on each server, and its owner's session."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from api.store.event_log import EventLog
from tests.harness.databases import TestDatabase
from tests.harness.sessions import Owner, owner_session


@pytest.fixture
def log(store_database: TestDatabase) -> Iterator[EventLog]:
    with closing(EventLog(store_database.service_url)) as log:
        yield log


@pytest.fixture
def owner(store_database: TestDatabase) -> Iterator[Owner]:
    with owner_session(store_database.owner_url) as session:
        yield session
