"""Numbers for new jobs: whoever asks while others are being answered is answered together with all who do."""

from __future__ import annotations

import asyncio

from api.store.event_log import EventLog
from domain.job.submission import Counts, Ids


class Numbers:
    """For one event loop. They ascend in the order in which they are asked for."""

    def __init__(self, log: EventLog) -> None:
        self._log = log
        self._waiting: list[tuple[Counts, asyncio.Future[Ids]]] = []
        self._answering: asyncio.Task[None] | None = None

    async def take(self, wanted: Counts) -> Ids:
        """Those of one job. Raises DatabaseAway."""
        future: asyncio.Future[Ids] = asyncio.get_running_loop().create_future()
        self._waiting.append((wanted, future))
        if self._answering is None:
            self._answering = asyncio.create_task(self._answer())
        return await future

    async def _answer(self) -> None:
        while self._waiting:
            waiting, self._waiting = self._waiting, []
            try:
                found = await asyncio.to_thread(self._log.take_ids, [wanted for wanted, _ in waiting])
            except Exception as error:
                _settle([future for _, future in waiting], error)
            else:
                for ids, (_, future) in zip(found, waiting, strict=True):
                    if not future.done():
                        future.set_result(ids)
        self._answering = None


def _settle(futures: list[asyncio.Future[Ids]], error: Exception) -> None:
    for future in futures:
        # Who gave up meanwhile wants to hear nothing.
        if not future.done():
            future.set_exception(error)
