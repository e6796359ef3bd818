"""Client of an explaining process of a partition, which starts with the first request."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from domain.errors import LabledgerError, Unknown
from domain.partition_numbers import DEFAULT_PARTITION, PartitionIdentity
from postgres.errors import DatabaseAway, DatabaseFull
from runtime.processes.child import Child, ChildFailed
from workers.explaining.follower import PRESENT, InThePast

# An idle process ends, perhaps just before a request.
ATTEMPTS = 2
# Maximum time for one answer. The clients of this repository wait half as long again.
TIMEOUT_SECONDS = 20.0


class StillReading(LabledgerError):
    """The explaining process is still reading the log."""


class Explainer:
    """The client of one explaining process. It sends one request at a time, without blocking the event loop.

    A request in progress is completed even if its caller has gone, so that a repetition is answered sooner. A
    queued request whose caller has gone is not sent.
    """

    def __init__(
        self,
        url: str,
        identity: PartitionIdentity = DEFAULT_PARTITION,
        moment: str = PRESENT,
        timeout_seconds: float = TIMEOUT_SECONDS,
    ) -> None:
        self._url = url
        self._arguments = str(identity.number), identity.name, moment
        self._timeout_seconds = timeout_seconds
        self._child: Child | None = None
        self._thread = ThreadPoolExecutor(1, "explaining")
        self._closed = False

    async def ask(self, about: str, **request: Any) -> dict[str, Any]:
        """Return the answer of `answers.ANSWERS[about]`.

        Raises its errors, InThePast for a client of the present, StillReading and ChildFailed.
        """
        answering = asyncio.wrap_future(self._thread.submit(self._ask, {"about": about, **request}))
        try:
            return await asyncio.wait_for(answering, self._timeout_seconds)
        except TimeoutError:
            raise StillReading(
                f"no answer within {self._timeout_seconds:g} s: the first explanation, and those of the past,"
                " may take longer; the process continues to read the log for them"
            ) from None

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        for _ in range(ATTEMPTS):
            if self._closed:
                break
            try:
                return self._exchange(self._running(), request)
            except ChildFailed:
                # It ended, or met an unexpected error and printed it. The client does not see that error,
                # because it may name hidden systems.
                self._end()
        raise ChildFailed("the explaining process ended without an answer")

    def _exchange(self, child: Child, request: dict[str, Any]) -> dict[str, Any]:
        child.send(request)
        answer: dict[str, Any] = child.receive().content["answer"]
        return answer

    def _running(self) -> Child:
        if self._child is not None and self._child.has_ended:
            self._end()
        if self._child is None:
            errors = (DatabaseAway, DatabaseFull, Unknown, InThePast)
            module = "workers.explaining.child"
            self._child = Child("explains", self._url, module, *self._arguments, errors=errors)
        return self._child

    def _end(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            child.close()

    async def close(self) -> None:
        """Kill the process. A request in progress or in the queue fails."""
        self._closed = True
        child = self._child
        if child is not None:
            child.kill()
        await asyncio.to_thread(self._thread.shutdown)
        self._end()
