"""Waiting for something that happens elsewhere, with an end."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

# Of whoever waits on a machine with much else to do; nobody who gets it waits for it.
PATIENCE_SECONDS = 120.0


def wait_until(happened: Callable[[], T], what: str = "it to happen", seconds: float = PATIENCE_SECONDS) -> T:
    """What it says when it is no longer false, empty or nothing."""
    deadline = time.monotonic() + seconds
    while not (found := happened()):
        assert time.monotonic() < deadline, f"waited {seconds:g} s for {what}"
        time.sleep(0.02)
    return found
