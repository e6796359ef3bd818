"""Ids for new jobs; concurrent requests share one query."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from itertools import takewhile
from typing import NamedTuple

from domain.job.submission import Counts, Ids
from store.event_log import EventLog

# While callers wait at the same time, more will follow soon: take as many spares as there were jobs of one
# size in the last SPARE_SECONDS, but not more than this.
MAX_SPARES = 64
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
        self._waiting: list[tuple[Sequence[Counts], asyncio.Future[list[Ids]]]] = []
        self._answering: asyncio.Task[None] | None = None
        self._spare: deque[_Spare] = deque()
        self._spare_until = 0.0
        # The sizes of the last jobs, with the moments when they needed ids.
        self._last_jobs: deque[tuple[Counts, float]] = deque(maxlen=MAX_SPARES)
        # The moment until which callers count as concurrent, because several waited at once.
        self._concurrent_until = 0.0
        # The last id that a caller of `last` got: later jobs must get no spare id up to it.
        self._last = 0

    async def take(self, wanted: Counts) -> Ids:
        """Return the ids of one job. Raises DatabaseAway."""
        now = asyncio.get_running_loop().time()
        self._last_jobs.append((wanted, now))
        if self._has_spare(wanted, now):
            return self._spare.popleft().ids
        (ids,) = await self.take_all([wanted])
        return ids

    async def take_all(self, wanted: Sequence[Counts]) -> list[Ids]:
        """Return the ids of several jobs, in ascending order. Raises DatabaseAway."""
        # Later callers get higher ids than these, so no spare ones.
        self._spare.clear()
        future: asyncio.Future[list[Ids]] = asyncio.get_running_loop().create_future()
        self._waiting.append((wanted, future))
        if self._answering is None:
            self._answering = asyncio.create_task(self._answer())
        return await future

    def _has_spare(self, wanted: Counts, now: float) -> bool:
        if not self._spare or now >= self._spare_until:
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
            wanted = [counts for jobs, _ in waiting for counts in jobs]
            if len(waiting) > 1:
                self._concurrent_until = asyncio.get_running_loop().time() + SPARE_SECONDS
            spare = self._spares(wanted)
            try:
                taken = await asyncio.to_thread(self._log.take_ids, wanted + spare)
            except Exception as error:
                _settle([future for _, future in waiting], error)
            else:
                ids = iter(taken)
                for jobs, future in waiting:
                    found = [next(ids) for _ in jobs]
                    if not future.done():
                        future.set_result(found)
                self._keep(spare, list(ids))
        self._answering = None

    def _spares(self, wanted: Sequence[Counts]) -> list[Counts]:
        """Return the sizes of the jobs for which to take spare ids."""
        now = asyncio.get_running_loop().time()
        if now >= self._concurrent_until:
            # A single caller, who waits for each answer, needs none; and the ids of its jobs have no gaps.
            return []
        since = now - SPARE_SECONDS
        recent = takewhile(lambda job: job[0] == wanted[-1] and job[1] >= since, reversed(self._last_jobs))
        count = sum(1 for _ in recent)
        return [wanted[-1]] * count if count > 1 else []

    def _keep(self, sizes: list[Counts], ids: list[Ids]) -> None:
        """Keep spare ids, unless other callers wait already: they will get higher ids."""
        if not self._waiting:
            self._spare.extend(map(_Spare, sizes, ids))
            self._spare_until = asyncio.get_running_loop().time() + SPARE_SECONDS


def _settle(futures: list[asyncio.Future[list[Ids]]], error: Exception) -> None:
    for future in futures:
        # The caller may have been cancelled.
        if not future.done():
            future.set_exception(error)
