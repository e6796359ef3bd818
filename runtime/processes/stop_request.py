"""SIGTERM and SIGINT as a question that can be asked: has somebody requested that this process stop?"""

from __future__ import annotations

import signal
from types import FrameType


class StopRequest:
    """The first signal is noted, so that no step is cut in half; a second one does not wait for the step."""

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
    """A request that is heard from now on."""
    request = StopRequest()
    request.listen()
    return request
