"""Throttled logging of messages that may occur thousands of times a second."""

from __future__ import annotations

import logging
import time
from collections import Counter

EVERY_SECONDS = 60.0


class ThrottledLog:
    """Logs each message at most once a minute, with the number of its occurrences since."""

    def __init__(self, logger: logging.Logger) -> None:
        self._logger = logger
        self._counts = Counter[str]()
        self._logged_at: dict[str, float] = {}

    def warn(self, message: str) -> None:
        """Log a warning. All messages are kept, so there must be few different ones."""
        self._counts[message] += 1
        now = time.monotonic()
        if now - self._logged_at.get(message, -EVERY_SECONDS) >= EVERY_SECONDS:
            self._logged_at[message] = now
            self._logger.warning(message, extra={"times": self._counts.pop(message)})
