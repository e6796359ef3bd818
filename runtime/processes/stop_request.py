"""Requests to stop by SIGTERM or SIGINT, which the process checks between its steps."""

from __future__ import annotations

import signal
from types import FrameType


class StopRequest:
    """A request to stop: the first signal lets the present step end, a second one exits at once."""

    def __init__(self) -> None:
        self._made = False

    def listen(self) -> None:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._receive)

    def made(self) -> bool:
        return self._made

    def _receive(self, number: int, frame: FrameType | None) -> None:
        if self._made:
            raise SystemExit(128 + number)
        self._made = True


def listening() -> StopRequest:
    """Return a request that listens from now on."""
    request = StopRequest()
    request.listen()
    return request
