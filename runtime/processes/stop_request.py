"""Requests to stop by SIGTERM or SIGINT, which the process checks between its steps."""

from __future__ import annotations

import signal
from types import FrameType


class StopRequest:
    """A request to stop. The first signal lets the process finish its step, a second one ends it at once."""

    def __init__(self) -> None:
        self._is_requested = False

    def listen(self) -> None:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._receive)

    def is_requested(self) -> bool:
        return self._is_requested

    def _receive(self, number: int, frame: FrameType | None) -> None:
        if self._is_requested:
            raise SystemExit(128 + number)
        self._is_requested = True


def listening() -> StopRequest:
    request = StopRequest()
    request.listen()
    return request
