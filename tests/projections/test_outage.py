"""Tests of the reader when the database goes away and comes back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest
from psycopg import AsyncConnection

from api import database_setup
from postgres.errors import DatabaseAway
from projections import reader as reader_module
from projections.read_sessions import ReadSessions
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
    """Yield a migrated server for this test alone, which may stop it."""
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
    """Open all sessions of the reader, and leave them idle."""
    with _locked(owner_url) as wait:
        asked = [asyncio.create_task(reader.rows("progress")) for _ in range(SESSIONS)]
        await asyncio.to_thread(wait)
    await asyncio.gather(*asked)


@contextmanager
def _locked(owner_url: str) -> Iterator[Callable[[], None]]:
    """Block all reads; yield a function that waits until all sessions are blocked."""
    with owner_session(owner_url) as looking, owner_session(owner_url) as locking, locking.transaction():
        locking.execute("LOCK TABLE read.progress")
        yield lambda: wait_until(lambda: lock_waiters(looking) >= SESSIONS)


def test_reader__server_stopped_and_started__first_query_answered(cluster: Cluster) -> None:
    url = cluster.start().owner_url

    async def ask() -> None:
        async with reading(url) as reader:
            await ask_all_at_once(reader, url)
            await asyncio.to_thread(cluster.stop)
            await asyncio.to_thread(cluster.start)
            assert await reader.rows("progress")

    asyncio.run(ask())


def test_reader__query_during_an_outage__answered_after_it(database: TestDatabase) -> None:
    async def ask() -> None:
        async with reading(database.service_url) as reader:
            with unavailable(database):
                with pytest.raises(DatabaseAway):
                    await reader.rows("progress")
                first = asyncio.create_task(reader.rows("progress"))
                # The pool has made its own attempt and given up; other queries wait.
                await asyncio.sleep(1.2)
                assert not first.done()
            assert await first

    asyncio.run(ask())


def test_reader__query_of_the_position_fails__goes_on(
    database: TestDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader_module, "ERROR_SECONDS", 0.05)

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


def test_reader__closed__queries_raise_database_away(database: TestDatabase) -> None:
    async def asked() -> None:
        async with reading(database.service_url) as reader:
            pass
        await reader.rows("progress")

    with pytest.raises(DatabaseAway):
        asyncio.run(asked())


def test_session__set_up_is_cancelled__is_closed(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[AsyncConnection[Any]] = []

    async def never_set_up(_: ReadSessions, connection: AsyncConnection[Any]) -> None:
        opened.append(connection)
        await asyncio.Event().wait()

    async def cancel_during_set_up() -> None:
        monkeypatch.setattr(ReadSessions, "_set_up", never_set_up)
        sessions = ReadSessions(cluster.start().owner_url, SERVICE_ROLE, 1)
        entering = asyncio.create_task(sessions.session().__aenter__())
        while not opened:
            await asyncio.sleep(0.01)
        entering.cancel()
        await asyncio.gather(entering, return_exceptions=True)

    asyncio.run(cancel_during_set_up())
    assert [connection.closed for connection in opened] == [True]


def test_session__cancelled_while_it_connects__leaves_no_socket(cluster: Cluster) -> None:
    def sockets() -> int:
        return sum("socket:" in str(each.resolve()) for each in Path("/proc/self/fd").iterdir())

    async def cancel_while_connecting() -> tuple[int, int]:
        sessions = ReadSessions(cluster.start().owner_url, SERVICE_ROLE, 1)
        before = sockets()
        entering = asyncio.create_task(sessions.session().__aenter__())
        while sockets() == before:
            await asyncio.sleep(0)
        entering.cancel()
        # Kept, as by the traceback of a caller: the collection of garbage closes the socket some time.
        kept = await asyncio.gather(entering, return_exceptions=True)
        assert isinstance(kept[0], asyncio.CancelledError)
        return before, sockets()

    before, after = asyncio.run(cancel_while_connecting())
    assert after == before
