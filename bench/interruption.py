"""Ctrl-C, and being told to end: what was begun is cleaned up, and that once."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def ended_cleanly() -> Iterator[None]:
    """Either signal raises KeyboardInterrupt inside, and does again what it did before afterwards."""
    before = {number: signal.signal(number, signal.default_int_handler) for number in SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def undisturbed() -> None:
    """From here on nobody cuts short the cleaning up. Inside `ended_cleanly`."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)
