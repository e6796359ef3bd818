"""Startup and shutdown of the parts of a process, with retries while the database is away.

A service may be started before its database. After a while it serves requests all the same: it is alive, but
not ready.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeAlias, TypeVar

from postgres.errors import DatabaseAway

# Requests at the start of the whole system may wait until everything is there.
PATIENCE_SECONDS = 10.0
RETRY_SECONDS = 0.5

Step: TypeAlias = Callable[[], Awaitable[None] | None]
"""The opening or closing of one part."""

T = TypeVar("T")

logger = logging.getLogger(__name__)


class ServiceLifecycle:
    """Opens and closes the parts of a service, each list in its order.

    `running` is called once the parts are open, or are being opened in the background.
    """

    def __init__(self, opening: Sequence[Step], running: Callable[[], None], closing: Sequence[Step]) -> None:
        self._opening = opening
        self._running = running
        self._closing = closing
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Return when all parts are open, or after `PATIENCE_SECONDS`: then opening goes on in background.

        Raises errors that a retry cannot cure.
        """
        self._task = asyncio.create_task(self._open())
        await asyncio.wait({self._task}, timeout=PATIENCE_SECONDS)
        if self._task.done():
            self._task.result()
        else:
            self._task.add_done_callback(_end_process_after_error)
        self._running()

    async def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        for step in self._closing:
            await _take(step)

    async def _open(self) -> None:
        for step in self._opening:
            while not await _is_taken(step):
                await asyncio.sleep(RETRY_SECONDS)


async def _take(step: Step) -> None:
    if (pending := step()) is not None:
        await pending


async def _is_taken(step: Step) -> bool:
    """Take a step; return False if the database is away."""
    try:
        await _take(step)
    except DatabaseAway as error:
        logger.warning("waiting for the database: %s", error)
        return False
    return True


def _end_process_after_error(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        logger.critical("ended by an unexpected error", exc_info=error)
        os.kill(os.getpid(), signal.SIGTERM)


def when_database_answers(load: Callable[[], T], stopping: Callable[[], bool]) -> T | None:
    """Return the result of `load`, retried while the database is away; None if the process is to stop."""
    while not stopping():
        try:
            return load()
        except DatabaseAway as error:
            logger.warning("waiting for the database: %s", error)
            time.sleep(RETRY_SECONDS)
    return None
