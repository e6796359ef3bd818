"""Database sessions for reads: a pool that runs named queries, and retries them on dead sessions."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

import orjson
from psycopg import AsyncConnection
from psycopg.rows import dict_row
from psycopg.types.json import set_json_loads
from psycopg_pool import AsyncConnectionPool, PoolClosed, PoolTimeout

from postgres.errors import DATABASE_ERRORS, DatabaseAway
from projections.sql import QUERIES

Row = dict[str, Any]
Params = Mapping[str, Any] | tuple[Any, ...]
NamedQuery = tuple[str, Params]
"""A named query and its parameters."""

# Interval of the attempts to reconnect.
RETRY_SECONDS = 0.2
# Maximum time until a session that nobody wants any more is there.
CANCELLED_SECONDS = 2.0


class _SessionDied(DatabaseAway):
    """The session is dead, but another one of the pool may be alive."""


class ReadSessions:
    """A pool of sessions under a database role. Open it in the event loop that uses it."""

    def __init__(self, url: str, role: str, size: int) -> None:
        self._url = url
        self._role = role
        self._size = size
        self._pool = AsyncConnectionPool(
            url,
            min_size=1,
            max_size=size,
            open=False,
            timeout=2.0,
            # The pool would retry at growing intervals, and callers would wait for that. So it gives up soon,
            # and its owner calls `check` when the database is back.
            reconnect_timeout=RETRY_SECONDS,
            kwargs={"autocommit": True, "row_factory": dict_row},
            configure=self._set_up,
        )

    async def open(self) -> None:
        await self._pool.open(wait=False)

    async def close(self) -> None:
        await self._pool.close()

    async def check(self) -> None:
        """Replace dead sessions, so that waiting queries get new ones at once."""
        await self._pool.check()

    @asynccontextmanager
    async def session(self) -> AsyncIterator[AsyncConnection[Any]]:
        """Yield a session outside of the pool, for notifications, and close it."""
        async with await self._connected() as connection:
            await self._set_up(connection)
            yield connection

    async def _connected(self) -> AsyncConnection[Any]:
        """Return a new session. If the caller is cancelled meanwhile, close it first.

        psycopg would leave it half open, and the server would wait a minute for its login.
        """
        connecting = asyncio.create_task(AsyncConnection.connect(self._url, autocommit=True))
        try:
            return await asyncio.shield(connecting)
        except asyncio.CancelledError:
            done, _ = await asyncio.wait((connecting,), timeout=CANCELLED_SECONDS)
            if not done:
                connecting.cancel()
            elif not connecting.cancelled() and connecting.exception() is None:
                await connecting.result().close()
            raise

    async def _set_up(self, connection: AsyncConnection[Any]) -> None:
        await connection.execute(f"SET ROLE {self._role}".encode())
        await connection.execute(b"SET timezone = 'UTC'")
        # orjson reads integers of more than 64 bits as floats, which it can write again.
        set_json_loads(orjson.loads, connection)
        await connection.execute(b"SET jit = off")
        # Nearly all pages are in memory, so an index scan in order is faster than a sort of all rows.
        await connection.execute(b"SET random_page_cost = 1.1")
        # Unused filters are null. A generic plan would read and sort whole tables.
        await connection.execute(b"SET plan_cache_mode = force_custom_plan")
        # No parallel query, because other processes need the processors.
        await connection.execute(b"SET max_parallel_workers_per_gather = 0")
        # One slow query must not block the others.
        await connection.execute(b"SET statement_timeout = '10s'")

    async def together(self, *queries: NamedQuery) -> list[list[Row]]:
        """Return rows of several queries in one round trip, retried on dead sessions. Raises DatabaseAway."""
        for _ in range(self._size):
            with suppress(_SessionDied):
                return await self._run(queries)
        return await self._run(queries)

    async def _run(self, queries: Sequence[NamedQuery]) -> list[list[Row]]:
        try:
            async with self._pool.connection() as connection:
                try:
                    return await _run_pipeline(connection, queries)
                except DATABASE_ERRORS as error:
                    raise (_SessionDied if connection.closed else DatabaseAway)(str(error)) from error
        except (PoolTimeout, PoolClosed) as error:
            raise DatabaseAway(str(error)) from error


async def _run_pipeline(connection: AsyncConnection[Row], queries: Sequence[NamedQuery]) -> list[list[Row]]:
    """Run the queries in a pipeline, and prepare each at its first use.

    psycopg would prepare a query later by itself. If an earlier query of the pipeline then fails, psycopg
    takes that query for prepared until the session ends, but the server has not prepared it.
    """
    if len(queries) == 1:
        ((query, params),) = queries
        return [await (await connection.execute(QUERIES[query], params, prepare=True)).fetchall()]
    async with connection.pipeline():
        cursors = [
            await connection.execute(QUERIES[query], params, prepare=True) for query, params in queries
        ]
    return [await cursor.fetchall() for cursor in cursors]
