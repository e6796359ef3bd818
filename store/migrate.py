"""Migrations: dated SQL files, each applied once, in order; and the check that all are applied."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

import psycopg
from psycopg.errors import DataError, ProgrammingError

import domain.all_events  # noqa: F401  (so that every topic is registered)
from domain.errors import LabledgerError
from domain.events import TOPICS
from postgres.errors import DATABASE_ERRORS, away
from postgres.named_sql import named_queries
from store.datastore import connect
from store.sql import SQL as LOG

SQL = named_queries(Path(__file__).with_name("migrate.sql"))
FOLDER = Path(__file__).with_name("migrations")
LOCK = 0x4C4C_4D49
"""The key of the advisory lock of a process that changes the schema, or that needs it unchanged."""


ADVICE: Final = "run `labledger migrate`"


@dataclass(frozen=True)
class Migration:
    name: str
    text: str

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()


def migrations(folder: Path = FOLDER) -> list[Migration]:
    return [Migration(file.stem, file.read_text("utf-8")) for file in sorted(folder.glob("*.sql"))]


class Numbering(NamedTuple):
    """The first id of jobs, recipe sets, recipes and tasks, and the difference of one id to the next."""

    start: int = 1
    step: int = 1


CONSECUTIVE: Final = Numbering()


def migrate(
    owner_url: str, wanted: list[Migration] | None = None, numbering: Numbering = CONSECUTIVE
) -> list[str]:
    """Apply the missing migrations, all in one transaction, and return their names.

    Also register all topics, because the log accepts only events of registered ones, and close the database
    to roles other than the service role. Runs as the owner of the schemas. The `numbering` counts only for a
    log without events. Raises ChangedMigration if a file differs from the applied one, and LaterDatabase,
    before any change, if a later version has migrated the database.
    """
    expected = migrations() if wanted is None else wanted
    with psycopg.connect(owner_url) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
        cursor.execute(
            "CREATE TABLE IF NOT EXISTS public.labledger_migrations ("
            " name text PRIMARY KEY, digest text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())"
        )
        for name, value in numbering._asdict().items():
            cursor.execute("SELECT set_config(%s, %s, true)", (f"labledger.id_{name}", str(value)))
        cursor.execute("SELECT name, digest FROM public.labledger_migrations")
        applied: dict[str, str] = dict(cursor.fetchall())
        _require_no_later(sorted(applied.keys() - {migration.name for migration in expected}))
        missing = [migration for migration in expected if not _is_applied(migration, applied)]
        for migration in missing:
            cursor.execute(migration.text.encode())
            cursor.execute(
                "INSERT INTO public.labledger_migrations (name, digest) VALUES (%s, %s)",
                (migration.name, migration.digest),
            )
        cursor.execute(SQL["register_topics"], (sorted(TOPICS),))
        cursor.execute(SQL["close_database"])
    return [migration.name for migration in missing]


def _is_applied(migration: Migration, applied: dict[str, str]) -> bool:
    digest = applied.get(migration.name)
    if digest is not None and digest != migration.digest:
        raise ChangedMigration(f"{migration.name} was changed after it was applied; write a new one instead")
    return digest is not None


def require_migrated(url: str) -> None:
    """Check that the database has each migration and topic of this program, and no other migration.

    Raises NotMigrated, LaterDatabase or DatabaseAway.
    """
    try:
        with connect(url) as session:
            wanted = [migration.name for migration in migrations()]
            unapplied = session.execute(LOG["missing_migrations"], (wanted,)).fetchall()
            missing = session.execute(LOG["missing_topics"], (sorted(TOPICS),)).fetchall()
            later = session.execute(LOG["later_migrations"], (wanted,)).fetchall()
    except DATABASE_ERRORS as error:
        raise away(error) from error
    except (ProgrammingError, DataError) as error:
        # The service role or the table does not exist, or the role may not read it.
        raise NotMigrated(f"{str(error).partition(chr(10))[0]}: {ADVICE}") from error
    # First, because `migrate` of this program would refuse, too.
    _require_no_later(_names(later))
    if unapplied:
        raise NotMigrated(f"the database lacks the migrations {', '.join(_names(unapplied))}: {ADVICE}")
    if missing:
        raise NotMigrated(f"the log accepts no events of the topics {', '.join(_names(missing))}: {ADVICE}")


def _names(rows: list[tuple[str]]) -> list[str]:
    return [name for (name,) in rows]


def _require_no_later(names: list[str]) -> None:
    if names:
        raise LaterDatabase(
            f"a later version of Labledger has migrated the database ({', '.join(names)}): install that"
            " version, or restore the backup from before its migration"
        )


class ChangedMigration(LabledgerError):
    """A migration was changed after it was applied."""


class LaterDatabase(LabledgerError):
    """The database has migrations of a later version."""


class NotMigrated(LabledgerError):
    """The database has not been migrated for this program."""
