"""The loop of a serving process that deletes the results of jobs by their retention tags."""

from __future__ import annotations

import asyncio
import logging
from typing import Final

from api.use_cases.ports import LabParts
from api.use_cases.retention import delete_due_results
from domain.errors import LabledgerError
from domain.job.retention import RetentionTags

INTERVAL_SECONDS: Final = 600.0

logger = logging.getLogger(__name__)


class ResultDeletion:
    """The loop, which begins at `open`. It does nothing if no tag has a number of days.

    Several processes may run it: the version of a job orders their deletions.
    """

    def __init__(
        self, parts: LabParts, tags: RetentionTags, interval_seconds: float = INTERVAL_SECONDS
    ) -> None:
        self._parts = parts
        self._tags = tags.with_days
        self._interval_seconds = interval_seconds
        self._task: asyncio.Task[None] | None = None

    async def open(self) -> None:
        if self._tags:
            self._task = asyncio.create_task(self._run())

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self) -> None:
        while True:
            try:
                if count := await delete_due_results(self._parts, self._tags):
                    logger.info("retention: deleted the results of %d jobs", count)
            except LabledgerError as error:
                logger.debug("results not deleted: %s", error)
            except Exception:
                # The task must not end, because results would be kept until the next start.
                logger.exception("results not deleted; retrying")
            await asyncio.sleep(self._interval_seconds)
