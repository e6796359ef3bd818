"""The scheduler of a log, run step by step; after its end another one can begin."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from domain.scheduling.world.partition import Partition
from store.lease import SCHEDULER
from store.snapshots import Snapshots
from store.tailer import Tailer
from tests.harness.waiting import wait_until
from tests.in_process.interposed import InterposedLog
from workers.scheduler import Scheduler, lease_for

# Far more than any of these small labs needs; a scheduler that needs more is in an endless loop.
STEPS = 300


class SteppedScheduler:
    """A scheduler without its consistency loop. Only the scheduler appends to the log object `log`."""

    def __init__(self, url: str, log: InterposedLog, clock: Callable[[], datetime]) -> None:
        self.log = log
        self.snapshots = Snapshots(log, SCHEDULER)
        self._url = url
        self._clock = clock
        self._begun = 0

    def begin(self, partition: Partition | None = None) -> None:
        """Begin with the whole log, or with the partition of another scheduler."""
        begun = Partition() if partition is None else partition
        self._begun += 1
        self._lease = lease_for(self._url, f"test/{self._begun}")
        # The session of the previous scheduler ends only when the server notices.
        wait_until(lambda: self._lease.try_take() is not None)
        self._tailer = Tailer(self._url, after=begun.position)
        self.scheduler = Scheduler(
            self.log, self._tailer, self._lease, self._clock, begun, snapshots=self.snapshots
        )
        self.step()

    @property
    def partition(self) -> Partition:
        return self.scheduler.partition

    @property
    def conflicts(self) -> int:
        return self.scheduler.counters.conflicts

    def step(self) -> None:
        """Read the log to its end, and decide once."""
        self.scheduler.step(timeout_seconds=0.0)

    def settle(self) -> None:
        """Run until there is nothing left to read or decide."""
        for _ in range(STEPS):
            end = self.log.end()
            self.step()
            if self.partition.position == end == self.log.end() and not self.partition.triggers.waiting():
                return
        raise AssertionError(f"after {STEPS} steps there is still something to decide")

    def die(self) -> None:
        """End without a snapshot; the partition is lost."""
        self._lease.release()
        self._tailer.close()

    def leave(self) -> None:
        """Shut down, which leaves a snapshot."""
        self.scheduler.run(stopping=lambda: True)
