"""Between clients and serving processes: requests and answers take their time, get lost, or come twice."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from api.client.problems import Problem, Unreachable
from api.request_context import RequestContext
from api.rest.problems import problem_of, status_of
from domain.errors import LabledgerError
from tests.simulation.machine.strands import current
from tests.simulation.service.serving import Operation, Serving

ANSWER_SECONDS = 30.0
PASSING = frozenset({429, 502, 503, 504})
TRIES = 6


@dataclass
class Roads:
    """What is likely to happen to a message, in fractions."""

    request_lost: float = 0.0
    answer_lost: float = 0.0
    doubled: float = 0.0
    slow: float = 0.0
    slow_seconds: float = 20.0


class Network:
    """`serving` are the processes that a request may come to, each as good as the other."""

    def __init__(self, dice: Random, serving: Callable[[], Sequence[Serving]]) -> None:
        self.roads = Roads()
        self._dice = dice
        self._serving = serving
        self._requests = 0

    def ask(self, asker: Asker, operation: Operation, key: str | None, answer_seconds: float) -> Any:
        """One attempt. Raises Lost when no answer comes, else what the operation raises."""
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
            _forgotten(self._dice.choice(up).take(operation, request))
        self._wait(task, answer_seconds)
        self._travel()
        if self._dice.random() < self.roads.answer_lost:
            raise Lost("connection reset")
        return task.result()

    def _wait(self, task: asyncio.Task[Any], seconds: float) -> None:
        waiting = current()
        _forgotten(task)

        def wake(_: object) -> None:
            waiting.wake()

        task.add_done_callback(wake)
        if not task.done() and not waiting.wait(seconds):
            # It may end yet, and then nobody waits for it any more.
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


def _forgotten(task: asyncio.Task[Any]) -> None:
    """Whoever does not ask for its outcome is not told of it."""
    task.add_done_callback(lambda done: done.cancelled() or done.exception())


class Asker:
    """One who asks, and asks again under the same key until there is an answer, as `api.client` does."""

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
        """Raises Problem, or Unreachable when its patience ends: nobody knows then what became of it."""
        why = ""
        for attempt in range(tries):
            try:
                return self._network.ask(self, operation, key, answer_seconds)
            except Lost as lost:
                why = str(lost)
            except LabledgerError as error:
                if status_of(error) not in PASSING:
                    raise Problem(status_of(error), error.title, str(problem_of(error)["detail"])) from error
                why = str(error)
            current().wait(min(2.0**attempt, 15.0))
        raise Unreachable("simulated", why)


class Lost(Exception):
    """No answer came."""
