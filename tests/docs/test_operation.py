"""The PostgreSQL statements in docs/operation.md: they are sufficient, and grant no more than needed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from urllib.parse import urlsplit

import psycopg
import pytest
from psycopg import sql

from api import database_setup
from domain.events import UnknownTopic
from runtime.settings import Settings, require_url
from store.event_log import EventLog
from store.lease import Lease
from store.requests import Committed, Fence
from store.tailer import Tailer
from tests.docs.operation_pages import sql_blocks
from tests.harness.appends import append_to
from tests.harness.databases import TestDatabase
from tests.harness.sessions import owner_session

PASSWORD = "only-for-tests"


def statements() -> list[str]:
    """Return the statements of the page, with names that no other database of the server has."""
    block, _ = sql_blocks()
    # The migrations name the role of the services, and this server has it already.
    text = (
        block.replace("…", PASSWORD)
        .replace("labledger_owner", "docs_owner")
        .replace("labledger_api", "docs_api")
    )
    text = text.replace("DATABASE labledger ", "DATABASE docs_labledger ")
    found = [statement.strip() for statement in text.split(";") if statement.strip()]
    assert found.pop(1) == "CREATE ROLE labledger_service"
    return found


@pytest.fixture
def settings(store_database: TestDatabase) -> Iterator[Settings]:
    """Settings of a new database, created by the statements of the page."""
    with owner_session(store_database.owner_url) as superuser:
        for statement in statements():
            superuser.execute(statement.encode())
        try:
            yield Settings.read(
                {},
                database_url=_url(store_database, "docs_api"),
                owner_database_url=_url(store_database, "docs_owner"),
            )
        finally:
            superuser.execute("DROP DATABASE docs_labledger WITH (FORCE)")
            for role in ("docs_api", "docs_owner"):
                superuser.execute(sql.SQL("DROP ROLE {}").format(sql.Identifier(role)))


def _url(database: TestDatabase, login: str) -> str:
    parts = urlsplit(database.owner_url)
    place = parts.netloc.rpartition("@")[2]
    return parts._replace(netloc=f"{login}:{PASSWORD}@{place}", path="/docs_labledger").geturl()


def test_database__created_as_the_page_says__is_migrated_and_the_services_work(settings: Settings) -> None:
    assert database_setup.migrate(settings)
    assert database_setup.first_admin_token(settings) is not None
    with closing(EventLog(require_url(settings.database_url))) as log:
        (outcome,) = log.append([append_to("a")])
    assert isinstance(outcome, Committed)


def test_schedulers__one_hangs__another_replaces_it_without_any_further_grant(settings: Settings) -> None:
    database_setup.migrate(settings)
    url = require_url(settings.database_url)
    hung, following = (Lease(url, "scheduler/test", f"host/{number}") for number in range(2))
    try:
        assert hung.try_take() == Fence("scheduler/test", 1)
        with psycopg.connect(require_url(settings.owner_database_url), autocommit=True) as owner:
            owner.execute("UPDATE live.leases SET renewed_at = renewed_at - interval '1 hour'")
        assert following.try_take() == Fence("scheduler/test", 2)
        assert not hung.is_held()
    finally:
        hung.release()
        following.release()


UNREADABLE = b"""
INSERT INTO log.events
    (originator_id, originator_version, topic, state, notification_id, commit_end, recorded_at)
SELECT 'x/1', version, 'test.of-no-version', '{"version":1,"data":{}}', 1 + version, 3, now()
FROM generate_series(1, 2) AS version
"""


def test_log_that_no_version_can_read__repaired_as_the_page_says__is_read_and_appended_to(
    store_database: TestDatabase,
) -> None:
    _, way_back = sql_blocks()
    with closing(EventLog(store_database.service_url)) as log:
        log.append([append_to("a")])
        with owner_session(store_database.owner_url) as owner:
            owner.execute("SET session_replication_role = replica")
            owner.execute(UNREADABLE)
            owner.execute("RESET session_replication_role")
        log.append([append_to("b")])
        with closing(Tailer(store_database.service_url)) as tailer, pytest.raises(UnknownTopic):
            [log.mapper.recorded(row) for row in tailer.next_page(1)]

        with owner_session(store_database.owner_url) as owner:
            owner.execute(way_back.replace(":position", "2").encode())
            (kept,) = owner.execute("SELECT count(*) FROM log.removed_events").fetchone() or (0,)
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                owner.execute("DELETE FROM log.events")
        assert kept == 2
        log.append([append_to("c")])
        with closing(Tailer(store_database.service_url)) as tailer:
            read = [log.mapper.recorded(row) for row in tailer.next_page(1)]
        assert [(one.position, one.subject) for one in read] == [(1, "a"), (4, "b"), (5, "c")]
