"""Queries of the read models as of a position, and waits until they reach a position."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any, NamedTuple

import orjson
from psycopg import AsyncConnection
from psycopg.rows import dict_row
from psycopg.types.json import set_json_loads
from psycopg_pool import AsyncConnectionPool, PoolClosed, PoolTimeout

from domain.errors import LabledgerError
from postgres.errors import DATABASE_ERRORS, DatabaseAway
from projections.advancing import AscendingPosition
from projections.projector import CHANNEL
from projections.sql import QUERIES

Row = dict[str, Any]
Params = Mapping[str, Any] | tuple[Any, ...]
NamedQuery = tuple[str, Params]
"""A named query and its parameters."""

# Interval of the attempts to reconnect.
RETRY_SECONDS = 0.2
# Pause after an unexpected error.
ERROR_SECONDS = 1.0

logger = logging.getLogger(__name__)


class NotYetFolded(LabledgerError):
    """The read models have not reached this position yet."""


class NotYetBuilt(LabledgerError):
    """The read models are being built."""

    def __init__(self, position: int, whole_from: int) -> None:
        super().__init__(f"the read models are being built: {position} of {whole_from} events")


class _SessionDied(DatabaseAway):
    """The session is dead, but another one of the pool may be alive."""


class At(NamedTuple):
    """The position of a read. `moment` is its time; None for the present, and before the first event."""

    position: int
    moment: datetime | None = None


class Reader:
    """A reader of the read models, under a database role. Open it in the event loop that uses it."""

    def __init__(self, url: str, role: str, pool_size: int = 4) -> None:
        self._url = url
        self._role = role
        self._pool = AsyncConnectionPool(
            url,
            min_size=1,
            max_size=pool_size,
            open=False,
            timeout=2.0,
            # The pool would retry at growing intervals, and callers would wait for that. So it gives up soon,
            # and `_follow` makes it check its sessions when the database is back.
            reconnect_timeout=RETRY_SECONDS,
            kwargs={"autocommit": True, "row_factory": dict_row},
            configure=self._set_up,
        )
        self._pool_size = pool_size
        self._progress = AscendingPosition()
        self._whole_from = 0
        self._follower: asyncio.Task[None] | None = None

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

    async def open(self) -> None:
        """Read the position of the read models and follow it. Raises DatabaseAway."""
        await self._pool.open(wait=False)
        (row,) = await self.rows("progress")
        self._set_position(row["position"], row["whole_from"])
        self._follower = asyncio.create_task(self._follow())

    async def close(self) -> None:
        if self._follower is not None:
            self._follower.cancel()
            await asyncio.gather(self._follower, return_exceptions=True)
        await self._pool.close()

    async def rows(self, query: str, params: Params = ()) -> list[Row]:
        """Return the rows of a named query. Raises DatabaseAway."""
        (rows,) = await self.together((query, params))
        return rows

    async def together(self, *queries: NamedQuery) -> list[list[Row]]:
        """Return rows of several queries in one round trip, retried on dead sessions. Raises DatabaseAway."""
        for _ in range(self._pool_size):
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

    async def row(self, query: str, params: Params = ()) -> Row | None:
        """Return the first row of a named query, None if there is none. Raises DatabaseAway."""
        rows = await self.rows(query, params)
        return rows[0] if rows else None

    async def as_of(self, moment: int | datetime | None) -> At:
        """Return the end of the last commit up to a position or time. Raises NotYetBuilt for None (now)."""
        if moment is None:
            self.require_whole()
            return At(self.position)
        query = "at_time" if isinstance(moment, datetime) else "at_position"
        row = await self.row(query, {"wanted": moment})
        assert row is not None
        return At(**row)

    @property
    def position(self) -> int:
        return self._progress.position

    @property
    def whole_from(self) -> int:
        """Return the position that completes the read models: the end of the log when their build began."""
        return self._whole_from

    @property
    def is_whole(self) -> bool:
        return self.position >= self._whole_from

    def require_whole(self) -> None:
        """Raise NotYetBuilt while the read models lack events from before their build began."""
        if not self.is_whole:
            raise NotYetBuilt(self.position, self._whole_from)

    async def reach(self, position: int, timeout_seconds: float) -> None:
        """Wait for a position. Raises NotYetFolded after the timeout, NotYetBuilt if it may take minutes."""
        if position > self.position:
            self.require_whole()
        if not await self._progress.reach(position, timeout_seconds):
            raise NotYetFolded(f"they are at position {self.position}, not yet at {position}")

    async def changed(self, since: int, timeout_seconds: float) -> None:
        """Wait until the read models move past a position, or until the timeout."""
        await self._progress.reach(since + 1, timeout_seconds)

    async def _follow(self) -> None:
        """Keep `position` current: query it at each notification, and once a second in case one was lost.

        The task survives every error, because nothing would notice its end but waits for a position.
        """
        while True:
            try:
                async with await AsyncConnection.connect(self._url, autocommit=True) as connection:
                    await self._set_up(connection)
                    await connection.execute(f"LISTEN {CHANNEL}".encode())
                    # After an outage, give waiting queries new sessions at once.
                    await self._pool.check()
                    while True:
                        await self._read_position(connection)
                        async for _ in connection.notifies(timeout=1.0, stop_after=1):
                            pass
            except DATABASE_ERRORS:
                await asyncio.sleep(RETRY_SECONDS)
            except Exception:
                logger.exception("read models: cannot read their position (last read: %d)", self.position)
                await asyncio.sleep(ERROR_SECONDS)

    async def _read_position(self, connection: AsyncConnection[Any]) -> None:
        cursor = await connection.execute(QUERIES["progress"])
        row = await cursor.fetchone()
        assert row is not None, "the read models were never migrated"
        position, _, whole_from = row
        self._set_position(position, whole_from)

    def _set_position(self, position: int, whole_from: int) -> None:
        if position < self._progress.position:
            # The read models were emptied and are rebuilt: end the waits for old positions.
            before, self._progress = self._progress, AscendingPosition()
            before.close()
        self._whole_from = whole_from
        self._progress.advance(position)


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
