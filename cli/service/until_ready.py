"""The wait of `labledger up` until all services are ready.

A new version may rebuild the read models, which takes long on a long log. So the wait has no fixed maximum:
it fails after `ready_seconds` without progress.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import click
import httpx

from cli.service import up_messages as messages
from cli.terminal.progress import progress_bar
from runtime.processes.supervisor import Supervisor
from runtime.settings import Settings

READ_MODELS = "read_models"
ASK_SECONDS = 2.0
# Interval of progress lines without a terminal.
LINE_SECONDS = 10.0

Clock = Callable[[], float]


def until_ready(settings: Settings, supervisor: Supervisor, stopping: Callable[[], bool]) -> None:
    """Supervise the processes until they are ready or `stopping`. Raise ClickException without progress."""
    timeout, answer = StallTimeout(settings.ready_seconds), ReadyAnswer()
    with progress_bar("read models", ProgressLines(click.echo).show) as on_progress:

        def is_over() -> bool:
            nonlocal answer
            answer = read_readyz(f"{settings.url}/readyz")
            if answer.catching_up is not None:
                timeout.reached(answer.catching_up[0])
                on_progress(*answer.catching_up)
            return answer.ready or stopping() or timeout.is_over()

        supervisor.run(is_over)
    if not answer.ready and not stopping():
        raise click.ClickException(messages.not_ready(settings, answer.faults))


@dataclass(frozen=True)
class ReadyAnswer:
    """An answer of /readyz: (position, end of the log) of late read models, and messages of failed checks."""

    ready: bool = False
    catching_up: tuple[int, int] | None = None
    faults: Mapping[str, str] = field(default_factory=dict)


def read_readyz(url: str) -> ReadyAnswer:
    """Return the answer of /readyz, an empty `ReadyAnswer` without a valid answer."""
    try:
        # A proxy could not reach this machine, and loading certificates takes long: use neither.
        answer = httpx.get(url, timeout=ASK_SECONDS, trust_env=False, verify=not url.startswith("http:"))
        return _ready_answer(answer.status_code == httpx.codes.OK, answer.json()["checks"])
    except (httpx.TransportError, ValueError, LookupError):
        return ReadyAnswer()


def _ready_answer(ready: bool, checks: Mapping[str, Mapping[str, Any]]) -> ReadyAnswer:
    faults = {name: check["detail"] for name, check in checks.items() if not check["ok"]}
    if READ_MODELS not in faults:
        return ReadyAnswer(ready, None, faults)
    position = checks[READ_MODELS]["position"]
    return ReadyAnswer(ready, (position, position + checks[READ_MODELS]["lag_events"]), faults)


class StallTimeout:
    """A timeout that restarts whenever the position advances."""

    def __init__(self, seconds: float, clock: Clock = time.monotonic) -> None:
        self._seconds = seconds
        self._clock = clock
        self._furthest = 0
        self._moved_at = clock()

    def reached(self, position: int) -> None:
        if position > self._furthest:
            self._furthest, self._moved_at = position, self._clock()

    def is_over(self) -> bool:
        return self._clock() - self._moved_at > self._seconds


class ProgressLines:
    """A progress callback that prints a line every few seconds."""

    def __init__(self, echo: Callable[[str], None], clock: Clock = time.monotonic) -> None:
        self._echo = echo
        self._clock = clock
        self._shown_at: float | None = None

    def show(self, position: int, end: int) -> None:
        now = self._clock()
        if self._shown_at is None or now - self._shown_at >= LINE_SECONDS:
            self._shown_at = now
            self._echo(messages.catching_up(position, end))
