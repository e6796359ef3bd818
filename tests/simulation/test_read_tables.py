"""The simulated read models contain the rows that PostgreSQL makes of the same log."""

from __future__ import annotations

from typing import Any

from psycopg.rows import dict_row

from projections.projector import Projector
from store.datastore import connect
from tests.harness.databases import TestDatabase
from tests.simulation.checks.final_state import pages
from tests.simulation.seed import Seed as SimulatedSeed
from tests.simulation.seed import SeedOptions, run

# An open end is the text `infinity`, which psycopg does not convert.
UNREAD = frozenset({"until"})


def test_read_tables__a_whole_seed__the_same_rows_as_postgresql(database: TestDatabase) -> None:
    seed = run(SeedOptions(1, 4.0))
    with connect(database.service_url) as connection:
        projector = Projector(connection)
        for page in pages(seed.commit_checks.log):
            projector.project(page)
        tables = {table: _real(connection, table) for table in seed.server.read.rows}

    assert len(seed.commit_checks.log) > 300
    for table, rows in tables.items():
        assert rows == _simulated(seed, table), table


def _real(connection: Any, table: str) -> list[str]:
    cursor = connection.cursor(row_factory=dict_row)
    columns = [each.name for each in cursor.execute(f"SELECT * FROM {table} LIMIT 0".encode()).description]
    shown = ", ".join(name for name in columns if name not in UNREAD)
    return sorted(map(_written, cursor.execute(f"SELECT {shown} FROM {table}".encode())))


def _simulated(seed: SimulatedSeed, table: str) -> list[str]:
    return sorted(map(_written, seed.server.read.rows[table]))


def _written(row: dict[str, Any]) -> str:
    return repr(sorted((name, _alike(value)) for name, value in row.items() if name not in UNREAD))


def _alike(value: Any) -> Any:
    """Return a row as JSON text; PostgreSQL orders the keys of a document differently."""
    if isinstance(value, dict):
        return sorted((key, _alike(each)) for key, each in value.items())
    return [_alike(each) for each in value] if isinstance(value, list | tuple) else value
