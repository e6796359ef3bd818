"""`labledger up` waits until everything is ready, however long the log is.

A new version may build the read models anew, which takes as long as the log is. So it gives up only when they
do not move, or nothing is left of them to wait for.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import click
import httpx

from cli.service import up_messages as say
from cli.terminal.progress import told_by_a_bar
from runtime.processes.supervisor import Supervisor
from runtime.settings import Settings

READ_MODELS = "read_models"
ASK_SECONDS = 2.0
# Where no terminal is, a log will keep each line.
LINE_SECONDS = 10.0

Clock = Callable[[], float]


def until_ready(settings: Settings, supervisor: Supervisor, stopping: Callable[[], bool]) -> None:
    """Look after the processes until they are ready, or it is told to stop. Raises when nothing moves."""
    patience, look = Patience(settings.ready_seconds), Look()
    with told_by_a_bar("read models", Lines(click.echo).told) as told:

        def decided() -> bool:
            nonlocal look
            look = look_at(f"{settings.url}/readyz")
            if look.catching_up is not None:
                patience.reached(look.catching_up[0])
                told(*look.catching_up)
            return look.ready or stopping() or patience.is_over()

        supervisor.run(decided)
    if not look.ready and not stopping():
        raise click.ClickException(say.not_ready(settings, look.faults))


@dataclass(frozen=True)
class Look:
    """`catching_up`: how far the read models are, of how many events, where that is what is waited for.
    `faults`: what is wrong, by check.
    """

    ready: bool = False
    catching_up: tuple[int, int] | None = None
    faults: Mapping[str, str] = field(default_factory=dict)


def look_at(url: str) -> Look:
    """What /readyz says; nothing yet, where nobody answers."""
    try:
        # A proxy of the environment is no way to this machine, and certificates take long to read.
        answer = httpx.get(url, timeout=ASK_SECONDS, trust_env=False, verify=not url.startswith("http:"))
        return _found(answer.status_code == httpx.codes.OK, answer.json()["checks"])
    except (httpx.TransportError, ValueError, LookupError):
        return Look()


def _found(ready: bool, checks: Mapping[str, Mapping[str, Any]]) -> Look:
    faults = {name: check["detail"] for name, check in checks.items() if not check["ok"]}
    if READ_MODELS not in faults:
        return Look(ready, None, faults)
    position = checks[READ_MODELS]["position"]
    return Look(ready, (position, position + checks[READ_MODELS]["lag_events"]), faults)


class Patience:
    """Over when for so many seconds nothing has got further."""

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


class Lines:
    """Says how far it is by a line now and then."""

    def __init__(self, echo: Callable[[str], None], clock: Clock = time.monotonic) -> None:
        self._echo = echo
        self._clock = clock
        self._told_at: float | None = None

    def told(self, position: int, end: int) -> None:
        now = self._clock()
        if self._told_at is None or now - self._told_at >= LINE_SECONDS:
            self._told_at = now
            self._echo(say.catching_up(position, end))
