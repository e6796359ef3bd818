"""A time limit for a whole exchange with a server, whose socket it shuts down. Blocking calls then fail."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from threading import Event, Thread
from typing import Final

# How soon after the limit a connection ends that is still being made.
POLL_SECONDS: Final = 0.2


@dataclass
class TimeLimit:
    is_over: bool = False


@contextmanager
def time_limit(seconds: float, present_socket: Callable[[], socket.socket | None]) -> Iterator[TimeLimit]:
    """Shut down the present socket of an exchange that takes longer than this, as soon as there is one.

    The timeout of the socket does not do: a server that trickles its answer begins it again with each byte.
    """
    limit, has_ended = TimeLimit(), Event()

    def end_in_time() -> None:
        wait_seconds = seconds
        while not has_ended.wait(wait_seconds):
            limit.is_over, wait_seconds = True, POLL_SECONDS
            if (found := present_socket()) is not None:
                with suppress(OSError):
                    found.shutdown(socket.SHUT_RDWR)

    Thread(target=end_in_time, daemon=True).start()
    try:
        yield limit
    finally:
        has_ended.set()
