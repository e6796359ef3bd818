"""The wait of `labledger up` until all services are ready.

A new version may rebuild the read models, which takes longer the longer the log is. The wait fails only if
nothing progresses.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import click
import httpx

from cli.service import up_messages as say
from cli.terminal.progress import progress_bar
from runtime.processes.supervisor import Supervisor
from runtime.settings import Settings

READ_MODELS = "read_models"
ASK_SECONDS = 2.0
# Interval of lines where there is no terminal.
LINE_SECONDS = 10.0

Clock = Callable[[], float]


def until_ready(settings: Settings, supervisor: Supervisor, stopping: Callable[[], bool]) -> None:
    """Supervise the processes until they are ready or `stopping`. Raise if nothing progresses."""
    patience, look = StallTimeout(settings.ready_seconds), ReadyAnswer()
    with progress_bar("read models", ProgressLines(click.echo).show) as on_progress:

        def decided() -> bool:
            nonlocal look
            look = read_readyz(f"{settings.url}/readyz")
            if look.catching_up is not None:
                patience.reached(look.catching_up[0])
                on_progress(*look.catching_up)
            return look.ready or stopping() or patience.is_over()

        supervisor.run(decided)
    if not look.ready and not stopping():
        raise click.ClickException(say.not_ready(settings, look.faults))


@dataclass(frozen=True)
class ReadyAnswer:
    """An answer of /readyz. `catching_up`: position of the read models and end of the log if they lag.
    `faults`: messages by name of the check.
    """

    ready: bool = False
    catching_up: tuple[int, int] | None = None
    faults: Mapping[str, str] = field(default_factory=dict)


def read_readyz(url: str) -> ReadyAnswer:
    """Return the answer of /readyz, an empty one if there is none."""
    try:
        # No proxy to this machine; and reading certificates takes long.
        answer = httpx.get(url, timeout=ASK_SECONDS, trust_env=False, verify=not url.startswith("http:"))
        return _found(answer.status_code == httpx.codes.OK, answer.json()["checks"])
    except (httpx.TransportError, ValueError, LookupError):
        return ReadyAnswer()


def _found(ready: bool, checks: Mapping[str, Mapping[str, Any]]) -> ReadyAnswer:
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
            self._echo(say.catching_up(position, end))
