"""Writer of the scheduler's snapshots, from which the next scheduler starts."""

from __future__ import annotations

import time
from collections.abc import Iterator
from math import inf
from typing import Final

from domain.scheduling.world.partition import Partition
from store.snapshots import Snapshots

# Minimum number of events between two snapshots; a scheduler reads them in well under a second.
SNAPSHOT_EVENTS = 10_000
# Minimum interval of snapshots; it is shorter while the scheduler is mostly idle ("calm").
SNAPSHOT_SECONDS = 30.0
CALM_SNAPSHOT_SECONDS = 10.0
# Minimum share of idle time of a calm scheduler, measured over at least `MEASURE_SECONDS`.
CALM_SHARE = 0.75
MEASURE_SECONDS = 1.0
# Maximum share of time for the pieces of a snapshot. Without pauses between them, decisions wait for the
# processor and for the database.
SHARE_OF_TIME = 0.25
# Maximum pause, for the case that the database was slow with one piece.
MAX_PAUSE_SECONDS = 0.5

EXHAUSTED: Final = object()


class SnapshotWriter:
    """A writer of snapshots of a partition. At creation, its position must be that of the last snapshot.

    The methods that write raise DatabaseAway; an unfinished snapshot is then discarded.
    """

    def __init__(self, snapshots: Snapshots, partition: Partition) -> None:
        self._snapshots = snapshots
        self._partition = partition
        self._written_position = partition.position
        self._written_at = time.monotonic()
        self._saving: Iterator[None] | None = None
        self._next_piece_at = self._written_at
        self._is_calm = False
        self._idle_seconds = 0.0
        self._measured_at = self._written_at

    def add_idle(self, seconds: float) -> None:
        now = time.monotonic()
        self._idle_seconds += seconds
        if now - self._measured_at >= MEASURE_SECONDS:
            self._is_calm = self._idle_seconds > CALM_SHARE * (now - self._measured_at)
            self._idle_seconds, self._measured_at = 0.0, now

    @property
    def is_under_way(self) -> bool:
        return self._saving is not None

    def seconds_to_next_piece(self) -> float:
        """Return the time until the next piece of an unfinished snapshot, infinity if there is none."""
        return max(0.0, self._next_piece_at - time.monotonic()) if self.is_under_way else inf

    def is_due(self) -> bool:
        """Return whether to write the next piece, or to begin because enough events and time have passed."""
        if self.is_under_way:
            return not self.seconds_to_next_piece()
        events = self._partition.position - self._written_position
        elapsed = time.monotonic() - self._written_at
        interval = CALM_SNAPSHOT_SECONDS if self._is_calm else SNAPSHOT_SECONDS
        return events >= SNAPSHOT_EVENTS and elapsed >= interval

    def write_some(self) -> None:
        """Write one piece of a snapshot, in some milliseconds, so that decisions are not delayed."""
        began = time.monotonic()
        saving = self._saving or self._save()
        self._saving = None
        if next(saving, EXHAUSTED) is not EXHAUSTED:
            self._saving = saving
        ended = time.monotonic()
        self._next_piece_at = ended + min((ended - began) * (1 / SHARE_OF_TIME - 1), MAX_PAUSE_SECONDS)

    def write_all(self) -> None:
        """Write a snapshot of the present state, unless the last one has that position."""
        self._saving = None
        if self._partition.position > self._written_position:
            for _ in self._save():
                pass

    def _save(self) -> Iterator[None]:
        position = self._partition.position
        yield from self._snapshots.saving(self._partition)
        self._written_position, self._written_at = position, time.monotonic()
