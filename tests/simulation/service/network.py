"""The network between clients and API processes: messages are delayed, lost or duplicated."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from api.client.problems import ServerProblem, Unreachable
from api.rest.problems import problem_of, status_of
from api.use_cases.ports import RequestContext
from domain.errors import LabledgerError
from tests.simulation.machine.strands import current
from tests.simulation.service.serving import Operation, Serving

ANSWER_SECONDS = 30.0
PASSING = frozenset({429, 502, 503, 504})
TRIES = 6


@dataclass
class Roads:
    """Probabilities of faults of a message."""

    request_lost: float = 0.0
    answer_lost: float = 0.0
    doubled: float = 0.0
    slow: float = 0.0
    slow_seconds: float = 20.0


class Network:
    """The network. `serving` returns the API processes; each request goes to any of them."""

    def __init__(self, dice: Random, serving: Callable[[], Sequence[Serving]]) -> None:
        self.roads = Roads()
        self._dice = dice
        self._serving = serving
        self._requests = 0

    def ask(self, asker: Asker, operation: Operation, key: str | None, answer_seconds: float) -> Any:
        """Send a request once and return its answer.

        Raise Lost without an answer, else the operation's error.
        """
        self._travel()
        up = [each for each in self._serving() if each.ready and each.process.alive]
        if not up:
            raise Lost("connection refused")
        if self._dice.random() < self.roads.request_lost:
            current().wait(answer_seconds)
            raise Lost("timed out")
        request = self._request(asker, key)
        task = self._dice.choice(up).take(operation, request)
        if key is not None and self._dice.random() < self.roads.doubled:
            _retrieve_outcome(self._dice.choice(up).take(operation, request))
        self._wait(task, answer_seconds)
        self._travel()
        if self._dice.random() < self.roads.answer_lost:
            raise Lost("connection reset")
        return task.result()

    def _wait(self, task: asyncio.Task[Any], seconds: float) -> None:
        waiting = current()
        _retrieve_outcome(task)

        def wake(_: object) -> None:
            waiting.wake()

        task.add_done_callback(wake)
        if not task.done() and not waiting.wait(seconds):
            # The task may still end, but its result is not used.
            task.remove_done_callback(wake)
            raise Lost("timed out")
        if task.cancelled():
            raise Lost("connection reset")

    def _request(self, asker: Asker, key: str | None) -> RequestContext:
        self._requests += 1
        digest = None if key is None else hashlib.sha256(key.encode()).digest()
        command_id = None if key is None else f"key/{asker.actor}/{key}"
        return RequestContext(
            actor=asker.actor,
            request_id=f"{self._requests}",
            command_id=command_id,
            digest=digest,
            is_admin=asker.role == "admin",
            role=asker.role,
        )

    def _travel(self) -> None:
        seconds = 0.001 + self._dice.random() * 0.01
        if self.roads.slow and self._dice.random() < self.roads.slow:
            seconds += self._dice.random() * self.roads.slow_seconds
        current().wait(seconds)


def _retrieve_outcome(task: asyncio.Task[Any]) -> None:
    """Retrieve the outcome of a task, so that asyncio does not report it."""
    task.add_done_callback(lambda done: done.cancelled() or done.exception())


class Asker:
    """A client that repeats a request under the same key until it is answered, as `api.client` does."""

    def __init__(self, network: Network, actor: str, role: str) -> None:
        self.actor = actor
        self.role = role
        self._network = network

    def ask(
        self,
        operation: Operation,
        key: str | None = None,
        answer_seconds: float = ANSWER_SECONDS,
        tries: int = TRIES,
    ) -> Any:
        """Send a request and return its answer. Raise ServerProblem, or Unreachable after a timeout."""
        why = ""
        for attempt in range(tries):
            try:
                return self._network.ask(self, operation, key, answer_seconds)
            except Lost as lost:
                why = str(lost)
            except LabledgerError as error:
                if status_of(error) not in PASSING:
                    raise ServerProblem(
                        status_of(error), error.title, str(problem_of(error)["detail"])
                    ) from error
                why = str(error)
            current().wait(min(2.0**attempt, 15.0))
        raise Unreachable("simulated", why)


class Lost(Exception):
    """No answer came."""
