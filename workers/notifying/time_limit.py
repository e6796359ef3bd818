"""A time limit for a whole exchange with a server, whose socket it shuts down. Blocking calls then fail."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from threading import Timer


@dataclass
class TimeLimit:
    is_over: bool = False


@contextmanager
def time_limit(seconds: float, present_socket: Callable[[], socket.socket | None]) -> Iterator[TimeLimit]:
    """Shut down the present socket of an exchange that takes longer than this.

    The timeout of the socket does not do: a server that trickles its answer begins it again with each byte.
    """
    limit = TimeLimit()

    def end() -> None:
        limit.is_over = True
        with suppress(OSError):
            if (found := present_socket()) is not None:
                found.shutdown(socket.SHUT_RDWR)

    timer = Timer(seconds, end)
    timer.daemon = True
    timer.start()
    try:
        yield limit
    finally:
        timer.cancel()
