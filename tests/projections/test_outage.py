"""The database goes away and comes back: whoever asks the read models then is answered."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager

import pytest

from api import database_setup
from postgres.errors import DatabaseAway
from projections import reader as reader_module
from projections.reader import Reader
from runtime.embedded.cluster import Cluster
from runtime.settings import Settings
from store.datastore import SERVICE_ROLE
from tests.harness import servers
from tests.harness.databases import TestDatabase
from tests.harness.outage import unavailable
from tests.harness.sessions import lock_waiters, owner_session
from tests.harness.waiting import wait_until

SESSIONS = 4


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    """A server of its own, to be stopped; it has been migrated."""
    with servers.cluster() as made:
        database_setup.migrate(Settings.read({}, database_url=made.start().owner_url))
        yield made


@asynccontextmanager
async def reading(url: str) -> AsyncIterator[Reader]:
    reader = Reader(url, SERVICE_ROLE, SESSIONS)
    await reader.open()
    try:
        yield reader
    finally:
        await reader.close()


async def ask_all_at_once(reader: Reader, owner_url: str) -> None:
    """Afterwards the reader has as many sessions as it ever has, and all are idle."""
    with _locked(owner_url) as wait:
        asked = [asyncio.create_task(reader.rows("progress")) for _ in range(SESSIONS)]
        await asyncio.to_thread(wait)
    await asyncio.gather(*asked)


@contextmanager
def _locked(owner_url: str) -> Iterator[Callable[[], None]]:
    """Nobody gets anything read; gives what waits until all sessions try."""
    with owner_session(owner_url) as looking, owner_session(owner_url) as locking, locking.transaction():
        locking.execute("LOCK TABLE read.progress")
        yield lambda: wait_until(lambda: lock_waiters(looking) >= SESSIONS)


def test_reader__server_stopped_and_started__first_question_answered(cluster: Cluster) -> None:
    url = cluster.start().owner_url

    async def ask() -> None:
        async with reading(url) as reader:
            await ask_all_at_once(reader, url)
            await asyncio.to_thread(cluster.stop)
            await asyncio.to_thread(cluster.start)
            assert await reader.rows("progress")

    asyncio.run(ask())


def test_reader__asked_while_away_and_then_back__answered_all_the_same(database: TestDatabase) -> None:
    async def ask() -> None:
        async with reading(database.service_url) as reader:
            with unavailable(database):
                with pytest.raises(DatabaseAway):
                    await reader.rows("progress")
                first = asyncio.create_task(reader.rows("progress"))
                # It began with an attempt of its own; the pool has given up, and others wait.
                await asyncio.sleep(1.2)
                assert not first.done()
            assert await first

    asyncio.run(ask())


def test_reader__a_look_fails_otherwise__goes_on_looking(
    database: TestDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader_module, "FAULT_SECONDS", 0.05)

    async def moved() -> int:
        async with reading(database.service_url) as reader:
            with owner_session(database.owner_url) as owner:
                owner.execute("ALTER TABLE read.progress RENAME TO elsewhere")
                await asyncio.sleep(1.5)
                owner.execute("ALTER TABLE read.elsewhere RENAME TO progress")
                owner.execute("UPDATE read.progress SET position = 7")
            await reader.reach(7, 60)
            return reader.position

    assert asyncio.run(moved()) == 7


def test_reader__closed__who_asks_hears_that_it_is_away(database: TestDatabase) -> None:
    async def asked() -> None:
        async with reading(database.service_url) as reader:
            pass
        await reader.rows("progress")

    with pytest.raises(DatabaseAway):
        asyncio.run(asked())
