"""A step that a serving process repeats from its start to its stop."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from domain.errors import LabledgerError
from runtime.tasks import end_task

logger = logging.getLogger(__name__)


class BackgroundLoop:
    """Repeats a step with a pause after each, from `open` until `close`.

    No error of a step ends the loop, because what it does would otherwise stop until the next start of the
    process. A LabledgerError, as while the database is away, is a debug message; any other error has its
    traceback in the log. `failure` begins both.
    """

    def __init__(self, step: Callable[[], Awaitable[object]], pause_seconds: float, failure: str) -> None:
        self._step = step
        self._pause_seconds = pause_seconds
        self._failure = failure
        self._task: asyncio.Task[None] | None = None

    async def open(self) -> None:
        self._task = asyncio.create_task(self._run())

    async def close(self) -> None:
        if self._task is not None:
            await end_task(self._task)

    async def _run(self) -> None:
        while True:
            try:
                await self._step()
            except LabledgerError as error:
                logger.debug("%s: %s", self._failure, error)
            except Exception:
                logger.exception("%s; retrying", self._failure)
            await asyncio.sleep(self._pause_seconds)
