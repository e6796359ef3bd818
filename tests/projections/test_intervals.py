"""The statements on tables of intervals: they look up each key, whatever the statistics say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from psycopg import Connection

from projections.intervals import Intervals
from projections.projector import Projector
from projections.read_models import ReadModels
from projections.rows import QueueRow
from store.datastore import connect
from tests.harness.databases import TestDatabase
from tests.harness.sessions import owner_session
from tests.projections.query_cost import rows_read, scans_of

CLOSED, OPEN, KEYS = 20_000, 3_000, 4
FILL = b"""
INSERT INTO read.queue
    (recipe_id, state, assigned, priority, submission, since_position, since, until_position, until)
SELECT id, 'queued', false, 0, id, id, now(), %s, now() FROM generate_series(%s::integer, %s::integer) AS id
"""
MOMENT = "2026-11-30T00:00:00Z"


@pytest.mark.parametrize("statement", ["load", "close"])
def test_statement__statistics_from_before_any_row_was_open__reads_the_rows_of_its_keys(
    database: TestDatabase, statement: str
) -> None:
    table = Intervals("queue", {"recipe_id": "integer"}, QueueRow)
    ids = [CLOSED + number for number in range(1, KEYS + 1)]
    load, close = table._load_query, table._close_query
    query, params = (load, [ids]) if statement == "load" else (close, [ids, ids, [MOMENT] * KEYS])
    with owner_session(database.owner_url) as owner:
        owner.execute(b"SET search_path = read")
        owner.execute(b"ALTER TABLE queue SET (autovacuum_enabled = false)")
        owner.execute(FILL, (2**40, 1, CLOSED))
        owner.execute(b"ANALYZE queue")
        owner.execute(FILL, (2**63 - 1, CLOSED + 1, CLOSED + OPEN))
        for mode in (b"force_custom_plan", b"force_generic_plan"):
            owner.execute(b"SET plan_cache_mode = " + mode)
            explained = b"EXPLAIN (ANALYZE, TIMING off, FORMAT json) " + query
            found = owner.execute(explained, params).fetchone()
            assert found is not None
            scans = scans_of(found[0][0]["Plan"], "queue")
            assert scans and sum(map(rows_read, scans)) <= 2 * KEYS, mode


def test_statements__of_a_projector_on_empty_tables__scan_no_table(database: TestDatabase) -> None:
    with owner_session(database.owner_url) as owner:
        # The statistics say that the tables are empty, so a scan seems to cost nothing.
        owner.execute(b"VACUUM ANALYZE")
    with connect(database.service_url) as connection:
        models = ReadModels()
        Projector(connection, models=models)
        connection.execute("SET plan_cache_mode = force_generic_plan")
        scanned = [
            query
            for table in models._intervals
            for query, more in ((table._load_query, ()), (table._close_query, ([], [])))
            if "Seq Scan" in _plan(connection, query, [[] for _ in table._key_types] + [*more])
        ]
    assert len(models._intervals) > 10 and scanned == []


def _plan(connection: Connection[Any], query: bytes, params: Sequence[Any]) -> str:
    rows = connection.execute(b"EXPLAIN " + query, params).fetchall()
    return "\n".join(line for (line,) in rows)
