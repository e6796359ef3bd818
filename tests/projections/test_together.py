"""Test of pipelined queries: a failed query does not break later ones."""

from __future__ import annotations

import asyncio

import pytest
from psycopg.errors import DivisionByZero

from projections.reader import Reader
from projections.sql import QUERIES
from store.datastore import SERVICE_ROLE
from tests.harness.databases import TestDatabase

# psycopg prepares a statement after this number of executions.
OFTEN = 8


@pytest.fixture(autouse=True)
def faulty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(QUERIES, "faulty", b"SELECT 1 / 0 AS never")


def test_together__the_first_fails_repeatedly__later_ones_work_afterwards(database: TestDatabase) -> None:
    async def asked() -> list[dict[str, object]]:
        reader = Reader(database.service_url, SERVICE_ROLE, pool_size=1)
        await reader.open()
        for _ in range(OFTEN):
            with pytest.raises(DivisionByZero):
                await reader.together(("faulty", ()), ("progress", ()))
        found = await reader.rows("progress")
        await reader.close()
        return found

    ((position, _, _),) = (row.values() for row in asyncio.run(asked()))
    assert position == 0
