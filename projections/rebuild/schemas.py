"""Schemas of read models: an empty copy of the live one, and dropping one whole."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from psycopg import Cursor, sql

from projections.named_sql import named_queries

SQL = named_queries(Path(__file__).with_name("rebuild.sql"))


def tables(cursor: Cursor[Any], schema: str) -> list[str]:
    return [name for (name,) in cursor.execute(SQL["tables"], (schema,)).fetchall()]


def copy(cursor: Cursor[Any], live: str, fresh: str) -> None:
    """Make `fresh` with the tables of `live`: their columns, keys, indexes and rights, none of their rows.

    In a transaction; its search_path is then `fresh`.
    """
    _search(cursor, live)
    statements = cursor.execute(SQL["copy_of"], {"live": live, "fresh": fresh}).fetchall()
    cursor.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(fresh)))
    _search(cursor, fresh)
    for (statement,) in statements:
        cursor.execute(statement)
    cursor.execute(SQL["begin"])


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


def _search(cursor: Cursor[Any], schema: str) -> None:
    cursor.execute("SELECT set_config('search_path', %s, true)", (schema,))
