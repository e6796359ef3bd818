"""A background thread that stores the counters of a process."""

from __future__ import annotations

import logging
import threading

from postgres.errors import DatabaseAway
from store.counters import Counters

WRITE_SECONDS = 2.0

logger = logging.getLogger(__name__)


class CounterWriter:
    """Stores counters regularly. Call `start` after any fork; `stop` stores them a last time."""

    def __init__(self, counters: Counters, every_seconds: float = WRITE_SECONDS) -> None:
        self._counters = counters
        self._every_seconds = every_seconds
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="counters", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join()

    def __enter__(self) -> None:
        self.start()

    def __exit__(self, *exception: object) -> None:
        self.stop()

    def _run(self) -> None:
        while not self._stopping.wait(self._every_seconds):
            self._write()
        self._write()

    def _write(self) -> None:
        try:
            self._counters.write()
        except DatabaseAway as error:
            # The next write includes these counts, and other parts log that the database is unavailable.
            logger.debug("counters not stored: %s", error)
        except Exception:
            # The thread must not end, because nobody would notice that the counters no longer change.
            logger.exception("counters not stored; retrying")
