"""Tests of migrations: applied once, in order, under one lock, and unchanged afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from click.testing import CliRunner

from cli import main
from store.migrate import ChangedMigration, Migration, migrate, migrations
from tests.harness.databases import TestDatabase
from tests.harness.sessions import Owner

FIRST = Migration("2030-01-01-first", "CREATE TABLE first (a int)")
SECOND = Migration("2030-01-02-second", "CREATE TABLE second (a int)")
BROKEN = Migration("2030-01-03-broken", "CREATE TABLE third (a int); SELECT 1 / 0")


@pytest.fixture
def url(database: TestDatabase) -> Iterator[str]:
    yield database.owner_url


def test_migrate__new_files__applied_in_order_and_once(url: str) -> None:
    assert migrate(url, [FIRST]) == [FIRST.name]
    assert migrate(url, [FIRST, SECOND]) == [SECOND.name]
    assert migrate(url, [FIRST, SECOND]) == []


def test_migrate__run_again_by_the_command_line__says_nothing_to_do(url: str) -> None:
    result = CliRunner(env={"LABLEDGER_DATABASE_URL": url}).invoke(main, ["migrate"])

    assert (result.exit_code, result.output) == (0, "nothing to do\n")


def test_migrate__file_changed_after_it_was_applied__refused_and_nothing_done(url: str, owner: Owner) -> None:
    migrate(url, [FIRST])

    with pytest.raises(ChangedMigration, match=FIRST.name):
        migrate(url, [Migration(FIRST.name, FIRST.text + "\n"), SECOND])
    assert not exists(owner, "second")


def test_migrate__one_of_several_fails__none_applied(url: str, owner: Owner) -> None:
    with pytest.raises(Exception, match="division by zero"):
        migrate(url, [FIRST, BROKEN])

    assert not exists(owner, "first")
    assert migrate(url, [FIRST]) == [FIRST.name]


def test_migrate__eight_at_the_same_time__one_applies_all(url: str) -> None:
    with ThreadPoolExecutor(8) as pool:
        applied = list(pool.map(lambda _: migrate(url, [FIRST, SECOND]), range(8)))

    assert sorted(applied) == [[]] * 7 + [[FIRST.name, SECOND.name]]


def test_migrations__of_the_package__sql_files_in_order_of_their_dates(tmp_path: Path) -> None:
    for name in ("2026-02-01-b.sql", "2026-01-01-a.sql", "notes.txt"):
        (tmp_path / name).write_text("SELECT 1")

    assert [migration.name for migration in migrations(tmp_path)] == ["2026-01-01-a", "2026-02-01-b"]
    assert migrations(), "the package has its own"


def exists(owner: Owner, table: str) -> bool:
    return owner.execute("SELECT to_regclass(%s)", (table,)).fetchone() != (None,)
