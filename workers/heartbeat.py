"""Renewal of a lease while the thread that holds it makes progress.

The thread cannot renew the lease itself, because one step may take longer than the lease. A second thread
that renewed it unconditionally would renew it for a hanging thread, too. So the second thread checks for
progress: the first thread has completed a round since the last check, or has been computing without an error.
A stopped process (SIGSTOP) renews nothing.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

logger = logging.getLogger(__name__)

# The number of checks within the duration of the lease, so that one late check does not lose the lease.
CHECKS_PER_LEASE = 4
# Minimum share of CPU time of a computing thread. A waiting thread uses less.
MIN_COMPUTING_SHARE = 0.01
# A thread that computes for longer than this, without completing a round, counts as an endless loop.
MAX_COMPUTING_SECONDS = 300.0


class Progress:
    """The progress of the thread that creates it, checked by another thread."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._cpu = _cpu_clock()
        self._rounds = 0
        self._fails = False
        self._last_check = (0, self._cpu(), clock())
        self._completed_at = clock()

    def complete_round(self) -> None:
        self._fails = False
        self._rounds += 1

    def fail(self) -> None:
        """Note a failure: until the next completed round, computing does not count as progress."""
        self._fails = True

    def is_made(self) -> bool:
        """Return whether the thread made progress since the last call."""
        (rounds, cpu, at), now = self._last_check, self._clock()
        self._last_check = (self._rounds, self._cpu(), now)
        if self._rounds != rounds:
            self._completed_at = now
            return True
        is_computing = self._last_check[1] - cpu > MIN_COMPUTING_SHARE * (now - at)
        return is_computing and not self._fails and now - self._completed_at < MAX_COMPUTING_SECONDS


class Heartbeat:
    """A thread, running inside `with`, that renews a lease of `seconds` in time while there is progress."""

    def __init__(self, progress: Progress, renew: Callable[[], None], seconds: float) -> None:
        self._progress = progress
        self._renew = renew
        self._every_seconds = seconds / CHECKS_PER_LEASE
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="heartbeat", daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        # The thread is not joined, because it may be waiting for an unreachable database.
        self._stop.set()

    def _run(self) -> None:
        while not self._stop.wait(self._every_seconds):
            try:
                if self._progress.is_made():
                    self._renew()
            except Exception:
                # Without this thread, a loop that makes progress would lose its lease.
                logger.exception("heartbeat: a check failed")


def _cpu_clock() -> Callable[[], float]:
    """Return a clock of the CPU time of this thread, or one that always shows 0 if the platform has none."""
    if not hasattr(time, "pthread_getcpuclockid"):
        return lambda: 0.0
    number = time.pthread_getcpuclockid(threading.get_ident())
    return lambda: time.clock_gettime(number)
