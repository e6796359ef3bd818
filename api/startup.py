"""Startup of the parts of a service, with retries.

A service may be started before its database. After a while it serves requests all the same: it is alive, but
not ready.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from collections.abc import Awaitable, Callable

from postgres.errors import DatabaseAway

# Requests at the start of the whole system may wait until everything is there.
PATIENCE_SECONDS = 10.0
RETRY_SECONDS = 0.5

logger = logging.getLogger(__name__)


class Opening:
    """Opens parts one after the other."""

    def __init__(self, *parts: Callable[[], Awaitable[None]]) -> None:
        self._parts = parts
        self._task: asyncio.Task[None] | None = None

    async def begin(self) -> None:
        """Return when all parts are open, or after the patience is over: then opening goes on in background.

        Raises errors that a retry cannot cure.
        """
        self._task = asyncio.create_task(self._open())
        await asyncio.wait({self._task}, timeout=PATIENCE_SECONDS)
        if self._task.done():
            self._task.result()
        else:
            self._task.add_done_callback(_end_the_process_by_a_fault)

    async def end(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _open(self) -> None:
        for part in self._parts:
            while not await _opened(part):
                await asyncio.sleep(RETRY_SECONDS)


async def _opened(part: Callable[[], Awaitable[None]]) -> bool:
    try:
        await part()
    except DatabaseAway as error:
        logger.warning("waiting for the database: %s", error)
        return False
    return True


def _end_the_process_by_a_fault(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        logger.critical("ended by a fault", exc_info=error)
        os.kill(os.getpid(), signal.SIGTERM)
