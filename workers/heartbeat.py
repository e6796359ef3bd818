"""Renewal of a lease while the thread that holds it makes progress.

The thread cannot renew the lease itself, since one step may take longer than the lease. Another thread that
renews it unconditionally would do so for a thread that hangs. So the other thread checks for progress: a
round was completed since the last check, or the thread has been computing and its work does not fail. A
process that is stopped renews nothing.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

logger = logging.getLogger(__name__)

# Checks in the time of a lease, so that one late check does not lose it.
CHECKS_PER_LEASE = 4
# Minimum share of CPU time of a thread that computes; one that waits wakes up only now and then.
MIN_COMPUTING_SHARE = 0.01
# Computing for longer than this is taken for an endless loop.
MAX_COMPUTING_SECONDS = 300.0


class Progress:
    """The progress of the thread that creates it, checked by another thread."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._cpu = _cpu_clock()
        self._rounds = 0
        self._fails = False
        self._seen = (0, self._cpu(), clock())
        self._completed_at = clock()

    def complete_round(self) -> None:
        self._fails = False
        self._rounds += 1

    def fail(self) -> None:
        """Note that the work failed and is retried: until a round is completed, computing is no progress."""
        self._fails = True

    def is_made(self) -> bool:
        """Return whether the thread made progress since the last call."""
        (rounds, cpu, at), now = self._seen, self._clock()
        self._seen = (self._rounds, self._cpu(), now)
        if self._rounds != rounds:
            self._completed_at = now
            return True
        is_computing = self._seen[1] - cpu > MIN_COMPUTING_SHARE * (now - at)
        return is_computing and not self._fails and now - self._completed_at < MAX_COMPUTING_SECONDS


class Heartbeat:
    """A thread that calls `renew` several times in `seconds` while there is progress, inside `with`."""

    def __init__(self, progress: Progress, renew: Callable[[], None], seconds: float) -> None:
        self._progress = progress
        self._renew = renew
        self._every_seconds = seconds / CHECKS_PER_LEASE
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="heartbeat", daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        # The thread is not joined: it may be waiting for a database that is away.
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
    """Return a clock of the CPU time of this thread; it stands still if the system has none."""
    if not hasattr(time, "pthread_getcpuclockid"):
        return lambda: 0.0
    number = time.pthread_getcpuclockid(threading.get_ident())
    return lambda: time.clock_gettime(number)
