"""The databases that other tests use."""

from __future__ import annotations

import psycopg
import pytest

from tests.harness.databases import TestDatabase


def test_database__fresh__is_migrated_and_empty(database: TestDatabase) -> None:
    with psycopg.connect(database.owner_url) as connection:
        assert connection.execute("SELECT count(*) FROM log.events").fetchone() == (0,)
        connection.execute("CREATE TABLE left_behind ()")


def test_database__after_another_test__knows_nothing_of_it(database: TestDatabase) -> None:
    with psycopg.connect(database.owner_url) as connection:
        assert connection.execute("SELECT to_regclass('left_behind')").fetchone() == (None,)


def test_service_url__before_it_becomes_the_service_role__may_read_nothing(database: TestDatabase) -> None:
    with (
        psycopg.connect(database.service_url) as connection,
        pytest.raises(psycopg.errors.InsufficientPrivilege),
    ):
        connection.execute("SELECT count(*) FROM log.events")


def test_service_url__as_the_service_role__may_read_but_not_delete(store_database: TestDatabase) -> None:
    with psycopg.connect(store_database.service_url) as connection:
        connection.execute("SET ROLE labledger_service")
        assert connection.execute("SELECT count(*) FROM log.events").fetchone() == (0,)
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("DELETE FROM log.events")


def test_second_server__system__is_of_another_version(store_database: TestDatabase) -> None:
    with psycopg.connect(store_database.owner_url) as connection:
        assert connection.info.server_version >= 150000
