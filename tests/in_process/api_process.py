"""The use cases as the routes call them, for synchronous callers."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from datetime import datetime
from typing import Any, TypeVar

from api.feed import Feed
from api.parts import Parts
from api.use_cases.ports import RequestContext
from projections.reader import Reader
from store.aggregates import Aggregates
from store.contacts import Contacts
from store.datastore import SERVICE_ROLE
from store.event_log import EventLog
from store.group_commit import GroupCommit
from store.job_numbers import JobNumberSource
from store.registrations import Registrations
from store.tailer import CHANNEL
from tests.in_process.interposed import InterposedLog
from workers.explaining.explainers import Explainers

Answer = TypeVar("Answer")
UseCase = Callable[[Parts, RequestContext], Awaitable[Answer]]

ADMIN = RequestContext(actor="admin", request_id="test", is_admin=True)


class ApiProcess:
    """An API process without HTTP and read models, for one calling thread at a time."""

    def __init__(
        self, url: str, log: EventLog, appended: InterposedLog, clock: Callable[[], datetime]
    ) -> None:
        """Begin; only this process appends to the log object `appended`."""
        self.appended = appended
        self._loop = asyncio.new_event_loop()
        self.services = Parts(
            log=log,
            commits=GroupCommit(appended),
            feed=Feed(log, url),
            reader=Reader(url, SERVICE_ROLE),
            aggregates=Aggregates(log),
            contacts=Contacts(log),
            registrations=Registrations(log),
            numbers=JobNumberSource(log),
            explainers=Explainers(url),
            clock=clock,
        )
        self._run(self.services.feed.open())

    def ask(self, use_case: UseCase[Answer]) -> Answer:
        """Run a use case, and raise its errors."""

        async def asked() -> Answer:
            return await use_case(self.services, ADMIN)

        return self._run(asked())

    def catch_up(self) -> None:
        """Read the whole log now; otherwise the names of other processes arrive some time later."""
        self._run(self.services.feed.catch_up())

    def close(self) -> None:
        try:
            self._run(self._close())
        finally:
            self.services.commits.close()
            self._loop.close()

    def _run(self, asked: Coroutine[Any, Any, Answer]) -> Answer:
        return self._loop.run_until_complete(asked)

    async def _close(self) -> None:
        closing = asyncio.ensure_future(self.services.feed.close())
        await asyncio.sleep(0)
        # Otherwise the feed would notice the end only at its next poll, seconds later.
        self.services.log.rows(b"SELECT pg_notify(%s, '')", (CHANNEL,))
        await closing
        await self._loop.shutdown_default_executor()
