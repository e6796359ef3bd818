"""Schemas of read models: an empty copy of the live one, and dropping one whole."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from psycopg import Cursor, sql

from projections.named_sql import named_queries

SQL = named_queries(Path(__file__).with_name("rebuild.sql"))


def search(cursor: Cursor[Any], schema: str) -> None:
    """Until the end of the transaction, names without a schema are of this one."""
    cursor.execute("SELECT set_config('search_path', %s, true)", (schema,))


def tables(cursor: Cursor[Any], schema: str) -> list[str]:
    return [name for (name,) in cursor.execute(SQL["tables"], (schema,)).fetchall()]


def copy(cursor: Cursor[Any], live: str, fresh: str) -> list[str]:
    """Make `fresh` with the tables of `live`: their columns and rights, none of their rows.

    Returns the statements for their keys and indexes, to be run when there are rows: one at a time they cost
    much more. In a transaction; its search_path is then `fresh`.
    """
    search(cursor, live)
    statements = cursor.execute(SQL["copy_of"], {"live": live, "fresh": fresh}).fetchall()
    cursor.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(fresh)))
    search(cursor, fresh)
    for statement, for_later in statements:
        if not for_later:
            cursor.execute(statement)
    cursor.execute(SQL["begin"])
    return [statement for statement, for_later in statements if for_later]


def complete(cursor: Cursor[Any], schema: str, statements: Sequence[str]) -> None:
    """Run what `copy` has left for later. In a transaction; its search_path is then the schema."""
    search(cursor, schema)
    cursor.execute("SET LOCAL maintenance_work_mem = '256MB'")
    for statement in statements:
        cursor.execute(statement.encode())


def drop(cursor: Cursor[Any], schema: str) -> None:
    """Tables and all, if there is such a schema. Refused while anything that is not ours stands on it."""
    found = tables(cursor, schema)
    if found:
        names = sql.SQL(", ").join(sql.Identifier(schema, name) for name in found)
        cursor.execute(sql.SQL("DROP TABLE {}").format(names))
    cursor.execute(sql.SQL("DROP SCHEMA IF EXISTS {}").format(sql.Identifier(schema)))


def rename(cursor: Cursor[Any], schema: str, name: str) -> None:
    cursor.execute(sql.SQL("ALTER SCHEMA {} RENAME TO {}").format(*map(sql.Identifier, (schema, name))))


def analyse(cursor: Cursor[Any], schema: str) -> None:
    """So that the first who asks gets the plan that everybody gets."""
    for name in tables(cursor, schema):
        cursor.execute(sql.SQL("ANALYZE {}").format(sql.Identifier(schema, name)))
