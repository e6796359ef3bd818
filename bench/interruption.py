"""Handling of Ctrl-C and SIGTERM, so that the clean-up runs exactly once."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def interruptible() -> Iterator[None]:
    """Raise KeyboardInterrupt on either signal within the context. Restore the handlers at the end."""
    before = {number: signal.signal(number, signal.default_int_handler) for number in SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def ignore_signals() -> None:
    """Ignore both signals from now on, so that the clean-up completes. For use inside `interruptible`."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)
