"""What the scheduler knows is kept now and then, so that the next one need not read the whole log."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Final

from domain.scheduling.world.partition import Partition
from store.snapshots import Snapshots

# A scheduler reads so many events in well under a second.
SNAPSHOT_EVENTS = 10_000
SNAPSHOT_SECONDS = 30.0
# Who has little else to do may as well keep it: the next one has less to read.
CALM_SNAPSHOT_SECONDS = 10.0
# So much of the time, over a second at least.
CALM = 0.75
LOOK_SECONDS = 1.0

ENDED: Final = object()


class Keeping:
    """Of a partition that is what was kept last. Calls raise DatabaseAway, and drop what was begun."""

    def __init__(self, snapshots: Snapshots, partition: Partition) -> None:
        self._snapshots = snapshots
        self._partition = partition
        self._kept = partition.position
        self._kept_at = time.monotonic()
        self._saving: Iterator[None] | None = None
        self._is_calm = False
        self._idle_seconds = 0.0
        self._looked_at = self._kept_at

    def idle_for(self, seconds: float) -> None:
        """So long there was nothing to do."""
        now = time.monotonic()
        self._idle_seconds += seconds
        if now - self._looked_at >= LOOK_SECONDS:
            self._is_calm = self._idle_seconds > CALM * (now - self._looked_at)
            self._idle_seconds, self._looked_at = 0.0, now

    @property
    def under_way(self) -> bool:
        return self._saving is not None

    def is_due(self) -> bool:
        news = self._partition.position - self._kept
        since = time.monotonic() - self._kept_at
        wanted = CALM_SNAPSHOT_SECONDS if self._is_calm else SNAPSHOT_SECONDS
        return self.under_way or (news >= SNAPSHOT_EVENTS and since >= wanted)

    def keep_some(self) -> None:
        """Some milliseconds of it: a decision that is wanted meanwhile waits no longer."""
        saving = self._saving or self._save()
        self._saving = None
        if next(saving, ENDED) is not ENDED:
            self._saving = saving

    def keep(self) -> None:
        """All that is known now; nothing where nothing is new."""
        self._saving = None
        if self._partition.position > self._kept:
            for _ in self._save():
                pass

    def _save(self) -> Iterator[None]:
        position = self._partition.position
        yield from self._snapshots.saving(self._partition)
        self._kept, self._kept_at = position, time.monotonic()
