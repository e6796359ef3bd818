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
    begun = time.monotonic()
    while not (found := condition()):
        waited = time.monotonic() - begun
        assert waited < seconds, f"waited {seconds:g} s for {what}"
        # The awaited process needs the processors, too.
        time.sleep(min(0.1, max(0.02, waited / 20)))
    return found
