"""Clean-up after Ctrl-C or SIGTERM, exactly once."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def ended_cleanly() -> Iterator[None]:
    """Raise KeyboardInterrupt on either signal within the context; restore the handlers at the end."""
    before = {number: signal.signal(number, signal.default_int_handler) for number in SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def undisturbed() -> None:
    """Ignore both signals from here on, so that the clean-up completes. For use inside `ended_cleanly`."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)
