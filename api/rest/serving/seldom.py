"""What may happen thousands of times a second is no line in the log each time."""

from __future__ import annotations

import logging
import time
from collections import Counter

EVERY_SECONDS = 60.0


class Seldom:
    """Says each thing at once, and then at most once a minute, with how often it was."""

    def __init__(self, logger: logging.Logger) -> None:
        self._logger = logger
        self._times = Counter[str]()
        self._said: dict[str, float] = {}

    def warn(self, what: str) -> None:
        """There must be few different ones."""
        self._times[what] += 1
        now = time.monotonic()
        if now - self._said.get(what, -EVERY_SECONDS) >= EVERY_SECONDS:
            self._said[what] = now
            self._logger.warning(what, extra={"times": self._times.pop(what)})
