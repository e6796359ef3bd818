"""An API process: production's use cases without HTTP. A request is a function of its parts."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import datetime
from typing import Any

from api.feed import Feed
from api.parts import Parts
from api.use_cases.ports import RequestContext
from domain.errors import LabledgerError
from postgres.errors import DatabaseAway
from store.aggregates import Aggregates
from store.contacts import Contacts
from store.event_log import EventLog
from store.group_commit import GroupCommit
from store.job_numbers import JobNumberSource
from store.registrations import Registrations
from tests.simulation.database.server import Server
from tests.simulation.machine.strands import Process
from tests.simulation.service.read_model_queries import SimulatedReader

Operation = Callable[[Parts, RequestContext], Awaitable[Any]]

URL = "simulated"
# As in `api.startup`.
RETRY_SECONDS = 0.5


class Serving:
    """An API process. It refuses connections until it has opened."""

    def __init__(self, process: Process, server: Server, clock: Callable[[], datetime]) -> None:
        self.process = process
        self.ready = False
        self._server = server
        self._clock = clock
        process.task(self._open())

    async def _open(self) -> None:
        log = EventLog(URL, pool_size=4)
        self.services = Parts(
            log=log,
            commits=GroupCommit(EventLog(URL, pool_size=1)),
            feed=Feed(log, URL),
            reader=SimulatedReader(self._server),
            aggregates=Aggregates(log),
            contacts=Contacts(log),
            registrations=Registrations(log),
            numbers=JobNumberSource(log),
            explainers=None,  # type: ignore[arg-type]  # no explanations
            hashing=None,  # type: ignore[arg-type]  # no logins
            clock=self._clock,
        )
        await self._patiently(self.services.reader.open)
        await self._patiently(self.services.feed.open)
        self.ready = True

    async def _patiently(self, open_: Callable[[], Awaitable[None]]) -> None:
        while True:
            try:
                return await open_()
            except DatabaseAway:
                await asyncio.sleep(RETRY_SECONDS)

    def take(self, operation: Operation, request: RequestContext) -> asyncio.Task[Any]:
        """Start a request; it may still run when the process is killed."""
        return self.process.task(self._answer(operation, request))

    async def _answer(self, operation: Operation, request: RequestContext) -> Any:
        if request.role == "lab_controller":
            await self._heard(request.actor)
        try:
            return await operation(self.services, request)
        except LabledgerError:
            raise
        except Exception as error:
            # The client may have given up.
            self.process.failed(error)
            raise

    async def _heard(self, lab_controller: str) -> None:
        """Record the contact of a lab controller, as the gate does for its token."""
        contacts, now = self.services.contacts, asyncio.get_running_loop().time()
        if contacts.must_store(lab_controller, now):
            with suppress(DatabaseAway):
                await asyncio.to_thread(contacts.store, lab_controller)
