"""Operations on schemas of read models: copy, complete, rename and drop."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from psycopg import Cursor, sql

from postgres.named_sql import named_queries

SQL = named_queries(Path(__file__).with_name("rebuild.sql"))

ACTORS = "actor_parts"
JOB_TERMS = "job_terms"
RESULTS = "task_results"
SUMS = "usage_hours"
SUMMED = ("system_usage", "systems", "recipe_details")
"""The tables that the sums of usage are made from."""


def set_search_path(cursor: Cursor[Any], schema: str, *, is_local: bool = True) -> None:
    """Set the search path, until the end of the transaction or of the session."""
    cursor.execute("SELECT set_config('search_path', %s, %s)", (schema, is_local))


def tables(cursor: Cursor[Any], schema: str) -> list[str]:
    return [name for (name,) in cursor.execute(SQL["tables"], (schema,)).fetchall()]


def copy(cursor: Cursor[Any], live: str, fresh: str) -> Mapping[str, list[str]]:
    """Create `fresh` with the tables of `live`: their columns and rights, without rows.

    Return table -> statements that join repeated rows, delete results, and create keys and indexes. Run them
    after the rows are written, because updating an index row by row costs much more. Call it in a
    transaction; its search path becomes `fresh`.
    """
    set_search_path(cursor, live)
    statements = cursor.execute(SQL["copy_of"], {"live": live, "fresh": fresh}).fetchall()
    cursor.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(fresh)))
    set_search_path(cursor, fresh)
    index_statements: dict[str, list[str]] = defaultdict(list)
    index_statements[ACTORS].append(SQL["delete_repeated_actors"].decode())
    index_statements[JOB_TERMS].append(SQL["join_repeated_terms"].decode())
    index_statements[RESULTS].append(SQL["delete_expired_results"].decode())
    for statement, table in statements:
        if table is None:
            cursor.execute(statement)
        else:
            index_statements[table].append(statement)
    cursor.execute(SQL["begin"])
    return index_statements


def complete(cursor: Cursor[Any], schema: str, statements: Sequence[str]) -> None:
    """Run the statements that `copy` returned for a table."""
    with cursor.connection.transaction():
        set_search_path(cursor, schema)
        # No parallel build, because other sessions build the indexes of other tables at the same time.
        cursor.execute("SET LOCAL max_parallel_maintenance_workers = 0")
        cursor.execute("SET LOCAL maintenance_work_mem = '256MB'")
        cursor.execute("SET LOCAL synchronous_commit = off")
        for statement in statements:
            cursor.execute(statement.encode())


def close_hours(cursor: Cursor[Any], schema: str) -> None:
    """Store the sums of usage in the hours that are over. The summed tables must be complete."""
    with cursor.connection.transaction():
        set_search_path(cursor, schema)
        # The planner expects few rows, and would sort all of them.
        cursor.execute("SET LOCAL enable_sort = off")
        cursor.execute("SET LOCAL work_mem = '256MB'")
        cursor.execute("SET LOCAL synchronous_commit = off")
        cursor.execute(SQL["close_hours"])


def drop(cursor: Cursor[Any], schema: str) -> None:
    """Drop a schema with its tables, if it exists. The server refuses while other objects depend on it."""
    # Tables are locked in the order of the statement: the position before the rows (docs/lock-order.md).
    if names := sorted(tables(cursor, schema), key=lambda name: name != "progress"):
        identifiers = sql.SQL(", ").join(sql.Identifier(schema, name) for name in names)
        cursor.execute(sql.SQL("DROP TABLE {}").format(identifiers))
    cursor.execute(sql.SQL("DROP SCHEMA IF EXISTS {}").format(sql.Identifier(schema)))


def rename(cursor: Cursor[Any], schema: str, name: str) -> None:
    cursor.execute(sql.SQL("ALTER SCHEMA {} RENAME TO {}").format(*map(sql.Identifier, (schema, name))))


def analyse(cursor: Cursor[Any], schema: str, table: str) -> None:
    """Gather statistics, so that the first queries get good plans."""
    cursor.execute(sql.SQL("ANALYZE {}").format(sql.Identifier(schema, table)))
