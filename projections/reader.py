"""Queries of the read models as of a position, and waits until they reach a position."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Generator, Sequence
from datetime import datetime
from typing import Any, NamedTuple, TypeVar

from psycopg import AsyncConnection

from domain.errors import LabledgerError
from postgres.errors import DATABASE_ERRORS
from projections.advancing import AscendingPosition
from projections.projector import CHANNEL
from projections.read_sessions import RETRY_SECONDS, NamedQuery, Params, ReadSessions, Row
from projections.sql import QUERIES
from runtime.tasks import end_task

# Pause after an unexpected error.
ERROR_SECONDS = 1.0

T = TypeVar("T")

logger = logging.getLogger(__name__)


class NotYetFolded(LabledgerError):
    """The read models have not reached this position yet."""


class NotYetBuilt(LabledgerError):
    """The read models are being built."""

    def __init__(self, position: int, whole_from: int) -> None:
        super().__init__(f"the read models are being built: {position} of {whole_from} events")


class At(NamedTuple):
    """The position of a read. `moment` is its time; None for the present, and before the first event."""

    position: int
    moment: datetime | None = None


class ReadProgress:
    """The position of the read models, which one reader follows and its siblings share."""

    def __init__(self) -> None:
        self.whole_from = 0
        self.recorded_at: datetime | None = None
        self._ascending = AscendingPosition()

    @property
    def position(self) -> int:
        return self._ascending.position

    def update(self, position: int, recorded_at: datetime | None, whole_from: int) -> None:
        if position < self.position:
            # The read models were emptied and are rebuilt: end the waits for old positions.
            before, self._ascending = self._ascending, AscendingPosition()
            before.close()
        self.whole_from = whole_from
        self.recorded_at = recorded_at
        self._ascending.advance(position)

    async def reach(self, position: int, timeout_seconds: float) -> bool:
        return await self._ascending.reach(position, timeout_seconds)


class Reader:
    """A reader of the read models, under a database role. Open it in the event loop that uses it."""

    def __init__(self, url: str, role: str, pool_size: int = 4, followed: ReadProgress | None = None) -> None:
        """Follow the position of the read models, unless another reader has `followed` it."""
        self._url = url
        self._role = role
        self._sessions = ReadSessions(url, role, pool_size)
        self._progress = ReadProgress() if followed is None else followed
        self._is_following = followed is None
        self._follower: asyncio.Task[None] | None = None
        self._siblings: list[Reader] = []

    def sibling(self, pool_size: int) -> Reader:
        """Return a reader with sessions of its own at the position of this one, which must be open."""
        made = Reader(self._url, self._role, pool_size, self._progress)
        self._siblings.append(made)
        return made

    async def open(self) -> None:
        """Read the position of the read models and follow it. Raises DatabaseAway."""
        await self._sessions.open()
        if not self._is_following:
            return
        (row,) = await self.rows("progress")
        self._progress.update(row["position"], row["recorded_at"], row["whole_from"])
        self._follower = asyncio.create_task(self._follow())

    async def close(self) -> None:
        if self._follower is not None:
            await end_task(self._follower)
        await self._sessions.close()

    async def rows(self, query: str, params: Params = ()) -> list[Row]:
        """Return the rows of a named query. Raises DatabaseAway."""
        (rows,) = await self.together((query, params))
        return rows

    async def together(self, *queries: NamedQuery) -> list[list[Row]]:
        """Return rows of several queries in one round trip, retried on dead sessions. Raises DatabaseAway."""
        return await self._sessions.together(*queries)

    async def run(self, steps: Generator[NamedQuery, Sequence[Row], T]) -> T:
        """Run the queries that a generator yields, and return its result. Raises DatabaseAway."""
        try:
            query, params = next(steps)
            while True:
                query, params = steps.send(await self.rows(query, params))
        except StopIteration as end:
            result: T = end.value
            return result

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
        return self._progress.whole_from

    @property
    def recorded_at(self) -> datetime | None:
        """Return the time of the event at `position`, None before the first one."""
        return self._progress.recorded_at

    @property
    def is_whole(self) -> bool:
        return self.position >= self.whole_from

    def require_whole(self) -> None:
        """Raise NotYetBuilt while the read models lack events from before their build began."""
        if not self.is_whole:
            raise NotYetBuilt(self.position, self.whole_from)

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
                async with self._sessions.session() as connection:
                    await connection.execute(f"LISTEN {CHANNEL}".encode())
                    # After an outage, give waiting queries new sessions at once.
                    for reader in (self, *self._siblings):
                        await reader._sessions.check()
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
        self._progress.update(*row)
