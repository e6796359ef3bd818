"""The check at startup that the database has been migrated for this program."""

from __future__ import annotations

from typing import Final

from psycopg.errors import DataError, ProgrammingError

import domain.all_events  # noqa: F401  (so that every topic is registered)
from domain.errors import LabledgerError
from domain.events import TOPICS
from postgres.errors import AWAY, away
from store.datastore import connect
from store.migrate import migrations
from store.sql import SQL

ADVICE: Final = "run `labledger migrate`"


class NotMigrated(LabledgerError):
    """The database has not been migrated for this program."""


def require_migrated(url: str) -> None:
    """Raise NotMigrated unless the database has each migration and topic of this program, or DatabaseAway."""
    try:
        with connect(url) as session:
            wanted = [migration.name for migration in migrations()]
            unapplied = session.execute(SQL["missing_migrations"], (wanted,)).fetchall()
            missing = session.execute(SQL["missing_topics"], (sorted(TOPICS),)).fetchall()
    except AWAY as error:
        raise away(error) from error
    except (ProgrammingError, DataError) as error:
        # The service role or the table does not exist, or the role may not read it.
        raise NotMigrated(f"{str(error).partition(chr(10))[0]}: {ADVICE}") from error
    if unapplied:
        raise NotMigrated(f"the database lacks the migrations {_named(unapplied)}: {ADVICE}")
    if missing:
        raise NotMigrated(f"the log takes no events of the topics {_named(missing)}: {ADVICE}")


def _named(rows: list[tuple[str]]) -> str:
    return ", ".join(name for (name,) in rows)
