"""The position from which the read models are complete."""

from __future__ import annotations

import pytest

from domain.directory.events import PoolRegistered
from projections.projector import Projector
from store.datastore import connect
from store.event_log import EventLog
from store.migrate import migrate
from tests.harness.databases import TestDatabase
from tests.harness.sessions import Owner
from tests.projections.projected_log import ProjectedLog
from tests.workers.read_models import forget, project_undisturbed

UNMIGRATED = b"""
ALTER TABLE read.progress DROP COLUMN whole_from;
DELETE FROM public.labledger_migrations WHERE name = '2026-11-23-whole'
"""


@pytest.fixture
def end(log: EventLog, database: TestDatabase) -> int:
    """Return the end of a log that has events."""
    with connect(database.service_url) as connection:
        models = ProjectedLog(log, connection)
        for name in "abc":
            models.write((f"pool/{name}", PoolRegistered(None)))
    return log.end()


def whole_from(owner: Owner) -> int:
    row = owner.execute("SELECT whole_from FROM read.progress").fetchone()
    assert row is not None
    return int(row[0])


def begin(database: TestDatabase) -> None:
    with connect(database.service_url) as connection:
        Projector(connection)


def test_projector__empty_log__whole_at_once(database: TestDatabase, owner: Owner) -> None:
    begin(database)
    assert whole_from(owner) == 0


def test_projector__nothing_folded_yet__whole_where_the_log_stood(
    database: TestDatabase, owner: Owner, end: int
) -> None:
    forget(owner)
    begin(database)
    assert whole_from(owner) == end > 0


def test_projector__something_folded__as_it_was(database: TestDatabase, owner: Owner, end: int) -> None:
    forget(owner)
    project_undisturbed(database.service_url, 1, page_size=1)
    owner.execute("UPDATE read.progress SET whole_from = 1")
    begin(database)
    assert whole_from(owner) == 1


def test_migrate__log_of_an_older_version__whole_where_it_stood(
    database: TestDatabase, owner: Owner, end: int
) -> None:
    forget(owner)
    owner.execute(UNMIGRATED)
    migrate(database.owner_url)
    assert whole_from(owner) == end > 0
