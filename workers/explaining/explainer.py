"""The client of the process that explains, which is started with the first question."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from domain.errors import LabledgerError, Unknown
from postgres.errors import DatabaseAway, DatabaseFull
from runtime.processes.child import Child, ChildFailed

# The process ends when it was not asked for long, perhaps just before a question.
ATTEMPTS = 2
# The limit for one answer. The clients of this repository wait half as long again.
PATIENCE_SECONDS = 20.0


class StillReading(LabledgerError):
    """The explaining process is still reading the log; try again."""


class Explainer:
    """Questions to the process that explains, one after the other; a question blocks no other request.

    The process answers a question that it has begun even if the caller is gone, so that the same question can
    be answered sooner. A question whose caller is gone is not begun.
    """

    def __init__(self, url: str, patience_seconds: float = PATIENCE_SECONDS) -> None:
        self._url = url
        self._patience_seconds = patience_seconds
        self._child: Child | None = None
        self._thread = ThreadPoolExecutor(1, "explaining")
        self._closed = False

    async def ask(self, about: str, **question: Any) -> dict[str, Any]:
        """Return the answer of `answers.ANSWERS[about]`. Raises its errors, StillReading and ChildFailed."""
        answering = asyncio.wrap_future(self._thread.submit(self._ask, {"about": about, **question}))
        try:
            return await asyncio.wait_for(answering, self._patience_seconds)
        except TimeoutError:
            raise StillReading(
                f"no answer within {self._patience_seconds:g} s: the first one, and those about the past, may"
                " take longer; the process goes on reading for them"
            ) from None

    def _ask(self, question: dict[str, Any]) -> dict[str, Any]:
        for _ in range(ATTEMPTS):
            if self._closed:
                break
            try:
                return self._exchange(self._running(), question)
            except ChildFailed:
                # It ended, or met an unexpected error and printed it. The client does not see that error,
                # because it may name hidden systems.
                self._end()
        raise ChildFailed("the process that explains ended without an answer")

    def _exchange(self, child: Child, question: dict[str, Any]) -> dict[str, Any]:
        child.send(question)
        answer: dict[str, Any] = child.receive().content["answer"]
        return answer

    def _running(self) -> Child:
        if self._child is not None and self._child.has_ended:
            self._end()
        if self._child is None:
            errors = (DatabaseAway, DatabaseFull, Unknown)
            self._child = Child("explains", self._url, "workers.explaining.child", errors=errors)
        return self._child

    def _end(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            child.close()

    async def close(self) -> None:
        """End the process. A question that is not answered yet fails."""
        self._closed = True
        child = self._child
        if child is not None:
            child.kill()
        await asyncio.to_thread(self._thread.shutdown)
        self._end()
