"""Services do not start on a database that was not migrated for their version."""

from __future__ import annotations

import subprocess
import sys

import pytest

from store.migrate import NotMigrated, migrations, require_migrated
from tests.harness.databases import TestDatabase
from tests.harness.running import Running, free_port
from tests.harness.sessions import Owner

MISSING = "lab-controller.heard"
MESSAGE = f"the log accepts no events of the topics {MISSING}: run `labledger migrate`"


@pytest.fixture
def old(database: TestDatabase, owner: Owner) -> TestDatabase:
    """Return the database of a version without one of the topics."""
    owner.execute("DELETE FROM log.topics WHERE topic = %s", (MISSING,))
    return database


@pytest.mark.parametrize("process", ["scheduler", "projector", "notifier", "serve"])
def test_service__database_not_migrated__refuses_to_start_and_names_the_command(
    old: TestDatabase, process: str
) -> None:
    environment = Running(old, f"http://127.0.0.1:{free_port()}", "").environment
    port = ["--port", environment["LABLEDGER_URL"].rpartition(":")[2]] if process == "serve" else []
    command = [sys.executable, "-m", "cli", process, *port]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert ended.returncode != 0
    assert MESSAGE in ended.stderr


def test_database__without_the_newest_migration__is_refused(database: TestDatabase, owner: Owner) -> None:
    """Omit a migration that registers no topic."""
    newest = migrations()[-1].name
    owner.execute("DELETE FROM public.labledger_migrations WHERE name = %s", (newest,))
    with pytest.raises(NotMigrated, match=f"lacks the migrations {newest}: run `labledger migrate`"):
        require_migrated(database.service_url)


def test_database__of_no_migration_at_all__is_refused(database: TestDatabase, owner: Owner) -> None:
    owner.execute("DROP TABLE log.topics CASCADE")
    with pytest.raises(NotMigrated, match=r"log\.topics.* run `labledger migrate`"):
        require_migrated(database.service_url)


def test_database__migrated_by_a_later_version__is_taken(database: TestDatabase, owner: Owner) -> None:
    """Start a service: it stops only when it reads an event that its version does not have."""
    owner.execute("INSERT INTO log.topics VALUES ('test.later')")
    require_migrated(database.service_url)
