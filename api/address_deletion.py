"""The loop of a serving process that deletes addresses of clients after their time."""

from __future__ import annotations

import asyncio
import logging
from typing import Final

from domain.errors import LabledgerError
from store.addresses import DELETED_AT_ONCE, delete_old_addresses
from store.event_log import EventLog

INTERVAL_SECONDS: Final = 600.0
# Between two batches, so that appends are not delayed.
PAUSE_SECONDS: Final = 0.1

logger = logging.getLogger(__name__)


class AddressDeletion:
    """The loop, which begins at `open`. With 0 `days` it deletes what an earlier setting has kept."""

    def __init__(self, log: EventLog, days: int, interval_seconds: float = INTERVAL_SECONDS) -> None:
        self._log = log
        self._days = days
        self._interval_seconds = interval_seconds
        self._task: asyncio.Task[None] | None = None

    async def open(self) -> None:
        self._task = asyncio.create_task(self._run())

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self) -> None:
        while True:
            try:
                await self._delete()
            except LabledgerError as error:
                logger.debug("addresses not deleted: %s", error)
            except Exception:
                # The task must not end, because addresses would be kept until the next start.
                logger.exception("addresses not deleted; retrying")
            await asyncio.sleep(self._interval_seconds)

    async def _delete(self) -> None:
        while await asyncio.to_thread(delete_old_addresses, self._log, self._days) == DELETED_AT_ONCE:
            await asyncio.sleep(PAUSE_SECONDS)
