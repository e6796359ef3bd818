"""Ask the read models: named queries, as of a position, and when that position is reached."""

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
from postgres.errors import AWAY, DatabaseAway
from projections.advancing import Advancing
from projections.projector import CHANNEL
from projections.queries import QUERIES

Row = dict[str, Any]
Params = Mapping[str, Any] | tuple[Any, ...]
Asked = tuple[str, Params]
"""A named query and what it is asked with."""

# How long after the database is back it may take to notice.
RETRY_SECONDS = 0.2
# How long after any other fault it is looked again.
FAULT_SECONDS = 1.0

logger = logging.getLogger(__name__)


class NotThereYet(LabledgerError):
    """The read models have not reached this position yet."""


class BeingBuilt(LabledgerError):
    """The read models are being built."""

    def __init__(self, position: int, whole_from: int) -> None:
        super().__init__(f"the read models are being built: {position} of {whole_from} events")


class _SessionDied(DatabaseAway):
    """This one did; another may live."""


class At(NamedTuple):
    """What a read is about. `moment` is that of one of the past, None for now and before the first event."""

    position: int
    moment: datetime | None = None


class Reader:
    """Asynchronous; open it in the event loop that uses it. Reads as the given role."""

    def __init__(self, url: str, role: str, pool_size: int = 4) -> None:
        self._url = url
        self._role = role
        self._pool = AsyncConnectionPool(
            url,
            min_size=1,
            max_size=pool_size,
            open=False,
            timeout=2.0,
            # The pool gives up soon, and is told when trying again makes sense: its own attempts lie further
            # and further apart, and who waits meanwhile would wait for none.
            reconnect_timeout=RETRY_SECONDS,
            kwargs={"autocommit": True, "row_factory": dict_row},
            configure=self._set_up,
        )
        self._pool_size = pool_size
        self._progress = Advancing()
        self._whole_from = 0
        self._follower: asyncio.Task[None] | None = None

    async def _set_up(self, connection: AsyncConnection[Any]) -> None:
        await connection.execute(f"SET ROLE {self._role}".encode())
        await connection.execute(b"SET timezone = 'UTC'")
        # Numbers that JSON allows and 64 bits do not hold are read as floats: what is read can be answered.
        set_json_loads(orjson.loads, connection)
        await connection.execute(b"SET jit = off")
        # What is read is in memory nearly always: rather an index in order than all rows, sorted.
        await connection.execute(b"SET random_page_cost = 1.1")
        # What is not asked for is null: a plan made for any parameters reads and sorts all there is.
        await connection.execute(b"SET plan_cache_mode = force_custom_plan")
        # There are others who want the processors.
        await connection.execute(b"SET max_parallel_workers_per_gather = 0")
        # One question must not keep the others waiting.
        await connection.execute(b"SET statement_timeout = '10s'")

    async def open(self) -> None:
        """Returns once it knows how far the read models are. Raises DatabaseAway while the database is."""
        await self._pool.open(wait=False)
        (row,) = await self.rows("progress")
        self._stand(row["position"], row["whole_from"])
        self._follower = asyncio.create_task(self._follow())

    async def close(self) -> None:
        if self._follower is not None:
            self._follower.cancel()
            await asyncio.gather(self._follower, return_exceptions=True)
        await self._pool.close()

    async def rows(self, query: str, params: Params = ()) -> list[Row]:
        """The rows of a named query. Raises DatabaseAway while the database is."""
        (found,) = await self.together((query, params))
        return found

    async def together(self, *asked: Asked) -> list[list[Row]]:
        """The rows of several queries, on one way to the database and back: what belongs to one answer.

        They are asked again while the pool hands out sessions that died with a database that was away.
        """
        for _ in range(self._pool_size):
            with suppress(_SessionDied):
                return await self._ask(asked)
        return await self._ask(asked)

    async def _ask(self, asked: Sequence[Asked]) -> list[list[Row]]:
        try:
            async with self._pool.connection() as connection:
                try:
                    return await _answers(connection, asked)
                except AWAY as error:
                    raise (_SessionDied if connection.closed else DatabaseAway)(str(error)) from error
        except (PoolTimeout, PoolClosed) as error:
            raise DatabaseAway(str(error)) from error

    async def row(self, query: str, params: Params = ()) -> Row | None:
        found = await self.rows(query, params)
        return found[0] if found else None

    async def as_of(self, wanted: int | datetime | None) -> At:
        """Where to read: at the end of the last commit up to a position or moment, else now.

        Raises BeingBuilt for now, while that is a moment of long ago.
        """
        if wanted is None:
            self.require_whole()
            return At(self.position)
        query = "at_time" if isinstance(wanted, datetime) else "at_position"
        row = await self.row(query, {"wanted": wanted})
        assert row is not None
        return At(**row)

    @property
    def position(self) -> int:
        """How far the read models are."""
        return self._progress.position

    @property
    def whole_from(self) -> int:
        """From which position on they are the whole of what was there when they were begun."""
        return self._whole_from

    @property
    def is_whole(self) -> bool:
        return self.position >= self._whole_from

    def require_whole(self) -> None:
        """Raises BeingBuilt before that: what is not in them may be in the log."""
        if not self.is_whole:
            raise BeingBuilt(self.position, self._whole_from)

    async def reach(self, position: int, timeout_seconds: float) -> None:
        """Wait until the read models reflect a position. Raises NotThereYet when the time is up, BeingBuilt
        without waiting where it may take minutes.
        """
        if position > self.position:
            self.require_whole()
        if not await self._progress.reach(position, timeout_seconds):
            raise NotThereYet(f"they are at {self.position}, {position} was asked for")

    async def changed(self, since: int, timeout_seconds: float) -> None:
        """Wait until the read models move past a position, or the time is up."""
        await self._progress.reach(since + 1, timeout_seconds)

    async def _follow(self) -> None:
        """Keep `position` true: told by notifications, and by a look once a second in case one was lost.

        Whatever happens it goes on: nobody would notice that it has ended but those who wait for a position.
        """
        while True:
            try:
                async with await AsyncConnection.connect(self._url, autocommit=True) as connection:
                    await self._set_up(connection)
                    await connection.execute(f"LISTEN {CHANNEL}".encode())
                    # The database may have been away: whoever waits for a session gets one now.
                    await self._pool.check()
                    while True:
                        await self._look(connection)
                        async for _ in connection.notifies(timeout=1.0, stop_after=1):
                            pass
            except AWAY:
                await asyncio.sleep(RETRY_SECONDS)
            except Exception:
                logger.exception("read models: cannot tell how far they are, of %d", self.position)
                await asyncio.sleep(FAULT_SECONDS)

    async def _look(self, connection: AsyncConnection[Any]) -> None:
        cursor = await connection.execute(QUERIES["progress"])
        row = await cursor.fetchone()
        assert row is not None, "the read models were never migrated"
        self._stand(row[0], row[2])

    def _stand(self, position: int, whole_from: int) -> None:
        if position < self._progress.position:
            # They were emptied, and are built anew: who waits for them to move on has nothing to wait for.
            before, self._progress = self._progress, Advancing()
            before.close()
        self._whole_from = whole_from
        self._progress.advance(position)


async def _answers(connection: AsyncConnection[Row], asked: Sequence[Asked]) -> list[list[Row]]:
    """Each is prepared when it is first asked: one that psycopg prepares later, behind another that fails, it
    believes prepared for as long as the session lasts, and the server knows nothing of it.
    """
    if len(asked) == 1:
        ((query, params),) = asked
        return [await (await connection.execute(QUERIES[query], params, prepare=True)).fetchall()]
    async with connection.pipeline():
        cursors = [await connection.execute(QUERIES[query], params, prepare=True) for query, params in asked]
    return [await cursor.fetchall() for cursor in cursors]
