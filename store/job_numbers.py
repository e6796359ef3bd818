"""Ids for new jobs; concurrent requests share one query."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import NamedTuple

from domain.job.submission import Counts, Ids
from store.event_log import EventLog

# Concurrent callers with jobs of one size soon need more ids: take spares for this many jobs each.
PREFETCHED = 3
# Spare ids expire after this time, or a process that was idle would give low ids to later jobs.
SPARE_SECONDS = 0.05


class _Spare(NamedTuple):
    """Spare ids for a job of this size."""

    wanted: Counts
    ids: Ids


class JobNumberSource:
    """A source of ids of jobs, for one event loop. Ids ascend in the order of the calls."""

    def __init__(self, log: EventLog) -> None:
        self._log = log
        self._waiting: list[tuple[Counts, asyncio.Future[Ids]]] = []
        self._answering: asyncio.Task[None] | None = None
        self._spare: deque[_Spare] = deque()
        self._spare_until = 0.0
        # The last id that a caller of `last` got: later jobs must get no spare id up to it.
        self._last = 0

    async def take(self, wanted: Counts) -> Ids:
        """Return the ids of one job. Raises DatabaseAway."""
        loop = asyncio.get_running_loop()
        if self._has_spare(wanted):
            return self._spare.popleft().ids
        self._spare.clear()
        future: asyncio.Future[Ids] = loop.create_future()
        self._waiting.append((wanted, future))
        if self._answering is None:
            self._answering = asyncio.create_task(self._answer())
        return await future

    def _has_spare(self, wanted: Counts) -> bool:
        if not self._spare or asyncio.get_running_loop().time() >= self._spare_until:
            return False
        spare = self._spare[0]
        return spare.wanted == wanted and spare.ids.job > self._last

    async def last(self) -> int:
        """Return the last job id given out to any process. Raises DatabaseAway.

        Ids that are taken here afterwards are higher. Another process may have spare ids, and give out lower
        ones for SPARE_SECONDS after it got them.
        """
        last = await asyncio.to_thread(self._log.last_job_id)
        self._last = max(self._last, last)
        return last

    async def _answer(self) -> None:
        while self._waiting:
            waiting, self._waiting = self._waiting, []
            wanted = [counts for counts, _ in waiting]
            spare = wanted * PREFETCHED if len(wanted) > 1 and len(set(wanted)) == 1 else []
            try:
                taken = await asyncio.to_thread(self._log.take_ids, wanted + spare)
            except Exception as error:
                _settle([future for _, future in waiting], error)
            else:
                for ids, (_, future) in zip(taken, waiting, strict=False):
                    if not future.done():
                        future.set_result(ids)
                self._keep(spare, taken[len(wanted) :])
        self._answering = None

    def _keep(self, sizes: list[Counts], ids: list[Ids]) -> None:
        """Keep spare ids, unless other callers wait already: they will get higher ids."""
        if not self._waiting:
            self._spare.extend(map(_Spare, sizes, ids))
            self._spare_until = asyncio.get_running_loop().time() + SPARE_SECONDS


def _settle(futures: list[asyncio.Future[Ids]], error: Exception) -> None:
    for future in futures:
        # The caller may have been cancelled.
        if not future.done():
            future.set_exception(error)
