"""Read models over a fresh database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.harness.databases import TestDatabase
    from tests.projections.telling import Told


@pytest.fixture
def told(database: TestDatabase) -> Iterator[Told]:
    # Imported here, so that tests of pure folds run without a database driver.
    from api.store.datastore import connect
    from api.store.event_log import EventLog
    from tests.projections.telling import Told

    with closing(EventLog(database.service_url)) as log, connect(database.service_url) as connection:
        yield Told(log, connection)
