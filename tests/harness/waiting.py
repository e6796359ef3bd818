"""Waiting for a condition, with a timeout."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

# Generous, for a busy machine; a test that passes does not wait this long.
PATIENCE_SECONDS = 120.0


def wait_until(
    condition: Callable[[], T], what: str = "it to happen", seconds: float = PATIENCE_SECONDS
) -> T:
    """Return the first true result of `condition`; fail after `seconds`, naming `what`."""
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline, f"waited {seconds:g} s for {what}"
        time.sleep(0.02)
    return found
