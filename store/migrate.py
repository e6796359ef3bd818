"""Bring a database up to date: dated SQL files, each applied once, in order, under one lock."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import psycopg

import domain.all_events  # noqa: F401  (so that every topic is registered)
from domain.errors import LabledgerError
from domain.events import TOPICS
from postgres.named_sql import named_queries

SQL = named_queries(Path(__file__).with_name("migrate.sql"))
FOLDER = Path(__file__).with_name("migrations")
LOCK = 0x4C4C_4D49
"""Held by whoever changes the schema, or must have it stay as it is."""


@dataclass(frozen=True)
class Migration:
    name: str
    text: str

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()


def migrations(folder: Path = FOLDER) -> list[Migration]:
    return [Migration(file.stem, file.read_text("utf-8")) for file in sorted(folder.glob("*.sql"))]


def migrate(owner_url: str, wanted: list[Migration] | None = None) -> list[str]:
    """Apply the missing migrations, all in one transaction, and return their names.

    Also register the topics of the code, without which no event of them can be appended, and close the
    database to other roles. Runs as the owner of the schemas. Raises ChangedMigration when a file differs
    from the applied one.
    """
    todo = migrations() if wanted is None else wanted
    with psycopg.connect(owner_url) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
        cursor.execute(
            "CREATE TABLE IF NOT EXISTS public.labledger_migrations ("
            " name text PRIMARY KEY, digest text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())"
        )
        cursor.execute("SELECT name, digest FROM public.labledger_migrations")
        applied: dict[str, str] = dict(cursor.fetchall())
        fresh = [migration for migration in todo if not _is_applied(migration, applied)]
        for migration in fresh:
            cursor.execute(migration.text.encode())
            cursor.execute(
                "INSERT INTO public.labledger_migrations (name, digest) VALUES (%s, %s)",
                (migration.name, migration.digest),
            )
        cursor.execute(SQL["register_topics"], (sorted(TOPICS),))
        cursor.execute(SQL["close_database"])
    return [migration.name for migration in fresh]


def _is_applied(migration: Migration, applied: dict[str, str]) -> bool:
    digest = applied.get(migration.name)
    if digest is not None and digest != migration.digest:
        raise ChangedMigration(f"{migration.name} was changed after it was applied; write a new one instead")
    return digest is not None


class ChangedMigration(LabledgerError):
    """A migration is not what it was."""
