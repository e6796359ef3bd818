"""Throttled logging, for messages that may occur thousands of times a second."""

from __future__ import annotations

import logging
import time
from collections import Counter

EVERY_SECONDS = 60.0


class ThrottledLog:
    """Logs each message at once, then at most once a minute with a count."""

    def __init__(self, logger: logging.Logger) -> None:
        self._logger = logger
        self._times = Counter[str]()
        self._said: dict[str, float] = {}

    def warn(self, what: str) -> None:
        """Log a message; there must be few different ones."""
        self._times[what] += 1
        now = time.monotonic()
        if now - self._said.get(what, -EVERY_SECONDS) >= EVERY_SECONDS:
            self._said[what] = now
            self._logger.warning(what, extra={"times": self._times.pop(what)})
