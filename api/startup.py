"""Startup and shutdown of the parts of a process, with retries while the database is unavailable.

A service may be started before its database. After MAX_STARTUP_SECONDS it accepts requests without the
database: it is alive, but not ready.
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
from runtime.tasks import end_task

# Until then the service accepts no requests, so that clients which start with it wait instead of failing.
MAX_STARTUP_SECONDS = 10.0
RETRY_SECONDS = 0.5

Step: TypeAlias = Callable[[], Awaitable[None] | None]
"""A function that opens or closes one part."""

T = TypeVar("T")

logger = logging.getLogger(__name__)


class ServiceLifecycle:
    """Opens and closes the parts of a service in order. `on_start` is called at the end of `start`."""

    def __init__(
        self, opening: Sequence[Step], on_start: Callable[[], None], closing: Sequence[Step]
    ) -> None:
        self._opening = opening
        self._on_start = on_start
        self._closing = closing
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Return when all parts are open, or after MAX_STARTUP_SECONDS while opening continues.

        Raises the errors of parts other than DatabaseAway, unless opening continues.
        """
        self._task = asyncio.create_task(self._open())
        await asyncio.wait({self._task}, timeout=MAX_STARTUP_SECONDS)
        if self._task.done():
            self._task.result()
        else:
            self._task.add_done_callback(_end_process_after_error)
        self._on_start()

    async def stop(self) -> None:
        if self._task is not None:
            await end_task(self._task)
        for step in self._closing:
            await _run_step(step)

    async def _open(self) -> None:
        for step in self._opening:
            while not await _try_step(step):
                await asyncio.sleep(RETRY_SECONDS)


async def _run_step(step: Step) -> None:
    if (pending := step()) is not None:
        await pending


async def _try_step(step: Step) -> bool:
    """Run a step; return False if the database is unavailable."""
    try:
        await _run_step(step)
    except DatabaseAway as error:
        logger.warning("waiting for the database: %s", error)
        return False
    return True


def _end_process_after_error(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        logger.critical("ended by an unexpected error", exc_info=error)
        os.kill(os.getpid(), signal.SIGTERM)


def load_with_retries(load: Callable[[], T], is_stopping: Callable[[], bool]) -> T | None:
    """Return the result of `load`, retried while the database is unavailable; None if `is_stopping`."""
    while not is_stopping():
        try:
            return load()
        except DatabaseAway as error:
            logger.warning("waiting for the database: %s", error)
            time.sleep(RETRY_SECONDS)
    return None
