"""A lease is renewed while the loop that holds it gets on, and only then.

The loop cannot do it by itself, since one step of it may take longer than the lease; a thread that merely
lives would do it for a loop that hangs. So a thread looks whether the loop gets on: it has come round since
the last look, or it has been computing, and not in vain. A process that is stopped has no thread that looks.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

logger = logging.getLogger(__name__)

# Of a lease; a look that came too late must not lose it.
LOOKS = 4
# A thread that waits for an answer wakes up now and then; one that computes has far more of the time.
COMPUTING = 0.01
# Whoever computes for longer has lost its way, whatever it computes.
MAX_COMPUTING_SECONDS = 300.0


class Progress:
    """Of the thread that makes it, for another one to ask."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._cpu = _cpu_clock()
        self._rounds = 0
        self._in_vain = False
        self._seen = (0, self._cpu(), clock())
        self._came_round_at = clock()

    def came_round(self) -> None:
        self._in_vain = False
        self._rounds += 1

    def in_vain(self) -> None:
        """It could not do its work, and tries again: until it comes round, computing is nothing."""
        self._in_vain = True

    def made(self) -> bool:
        """Whether the thread has got on since this was last asked."""
        (rounds, cpu, at), now = self._seen, self._clock()
        self._seen = (self._rounds, self._cpu(), now)
        if self._rounds != rounds:
            self._came_round_at = now
            return True
        is_computing = self._seen[1] - cpu > COMPUTING * (now - at)
        return is_computing and not self._in_vain and now - self._came_round_at < MAX_COMPUTING_SECONDS


class Heartbeat:
    """Calls `renew` several times in `seconds` while there is progress, from `__enter__` to `__exit__`."""

    def __init__(self, progress: Progress, renew: Callable[[], None], seconds: float) -> None:
        self._progress = progress
        self._renew = renew
        self._every_seconds = seconds / LOOKS
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="heartbeat", daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        # Not joined: it may be waiting for a database that is away.
        self._stop.set()

    def _run(self) -> None:
        while not self._stop.wait(self._every_seconds):
            try:
                if self._progress.made():
                    self._renew()
            except Exception:
                # Whatever it was: without this thread a loop that gets on would pass for one that hangs.
                logger.exception("heartbeat: a look failed")


def _cpu_clock() -> Callable[[], float]:
    """The time that this thread has computed; where the system does not tell, nothing."""
    if not hasattr(time, "pthread_getcpuclockid"):
        return lambda: 0.0
    number = time.pthread_getcpuclockid(threading.get_ident())
    return lambda: time.clock_gettime(number)
