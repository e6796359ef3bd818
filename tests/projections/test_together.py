"""Questions that belong to one answer go to the database together: one that fails harms no later one."""

from __future__ import annotations

import asyncio

import pytest
from psycopg.errors import DivisionByZero

from api.store.datastore import SERVICE_ROLE
from projections.queries import QUERIES
from projections.reader import Reader
from tests.harness.databases import TestDatabase

# So often psycopg waits until it prepares a statement by itself.
OFTEN = 8


@pytest.fixture(autouse=True)
def others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(QUERIES, "faulty", b"SELECT 1 / 0 AS never")
    monkeypatch.setitem(QUERIES, "slow", b"SELECT pg_sleep(1)")


def test_together__the_first_fails_again_and_again__those_behind_it_are_answered_then(
    database: TestDatabase,
) -> None:
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


def test_together__given_up_meanwhile__the_session_answers_the_next(database: TestDatabase) -> None:
    async def asked() -> list[list[dict[str, object]]]:
        reader = Reader(database.service_url, SERVICE_ROLE, pool_size=1)
        await reader.open()
        for _ in range(OFTEN):
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(reader.together(("slow", ()), ("progress", ())), 0.05)
        found = await reader.together(("progress", ()), ("progress", ()))
        await reader.close()
        return found

    first, second = asyncio.run(asked())
    assert first == second and len(first) == 1
