"""What the scheduler knows is kept now and then, so that the next one need not read the whole log."""

from __future__ import annotations

import time

from api.store.snapshots import Snapshots
from domain.scheduling.partition import Partition

# A scheduler reads so many events in well under a second.
SNAPSHOT_EVENTS = 10_000
SNAPSHOT_SECONDS = 30.0


class Keeping:
    """Of a partition that is what was kept last."""

    def __init__(self, snapshots: Snapshots, partition: Partition) -> None:
        self._snapshots = snapshots
        self._partition = partition
        self._kept = partition.position
        self._kept_at = time.monotonic()

    def is_due(self) -> bool:
        news = self._partition.position - self._kept
        return news >= SNAPSHOT_EVENTS and time.monotonic() - self._kept_at >= SNAPSHOT_SECONDS

    def keep(self) -> None:
        """Nothing where nothing is new. Raises DatabaseAway."""
        if self._partition.position > self._kept:
            self._snapshots.save(self._partition)
            self._kept, self._kept_at = self._partition.position, time.monotonic()
