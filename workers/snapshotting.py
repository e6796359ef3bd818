"""Writer of the scheduler's snapshots, from which the next scheduler starts."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from math import inf
from threading import Thread

from domain.scheduling.world.partition import Partition
from postgres.errors import DatabaseAway
from store.snapshots import Snapshots

# Minimum number of events between two snapshots; a scheduler reads them in well under a second.
SNAPSHOT_EVENTS = 10_000
# Minimum interval of snapshots; it is shorter while the scheduler is mostly idle ("calm").
SNAPSHOT_SECONDS = 30.0
CALM_SNAPSHOT_SECONDS = 10.0
# Minimum share of idle time of a calm scheduler, measured over at least `MEASURE_SECONDS`.
CALM_SHARE = 0.75
MEASURE_SECONDS = 1.0
# Maximum share of time for encoding and storing the pieces of a snapshot. Without pauses between them,
# decisions and PostgreSQL would lack the processor.
SHARE_OF_TIME = 0.25
# Maximum pause, for the case that the database was slow with one piece.
MAX_PAUSE_SECONDS = 0.5
# Number of pieces in a statement at a stop, when nothing is decided any more.
PIECES_PER_STATEMENT = 50
# Maximum wait at a stop for the piece that the thread is storing.
MAX_STORE_SECONDS = 3.0
# Interval of the checks, after the pause, whether the thread has stored the piece.
POLL_SECONDS = 0.005


class SnapshotWriter:
    """A writer of snapshots of a partition. At creation, its position must be that of the last snapshot.

    A thread of its own stores each piece, so no decision waits until a piece is stored. The methods that
    write raise DatabaseAway; an unfinished snapshot is then discarded.
    """

    def __init__(self, snapshots: Snapshots, partition: Partition) -> None:
        self._snapshots = snapshots
        self._partition = partition
        self._written_position = partition.position
        self._written_at = time.monotonic()
        self._saving: Iterator[Callable[[], None]] | None = None
        # The step that a thread runs or has run, since this time; its result is the time that it took.
        self._storing: Future[float] | None = None
        self._storing_since = self._written_at
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
        """Return the seconds until the next check of an unfinished snapshot, infinity without one."""
        if not self.is_under_way:
            return inf
        now = time.monotonic()
        pause = max(0.0, self._next_piece_at - now)
        if self._is_stored():
            return pause
        # A database that is slow is not asked all the time: each check reads the log.
        return max(pause, POLL_SECONDS, min(now - self._storing_since, MAX_PAUSE_SECONDS))

    def _is_stored(self) -> bool:
        return self._storing is None or self._storing.done()

    def is_due(self) -> bool:
        """Return whether to write the next piece, or to begin because enough events and time have passed."""
        if self.is_under_way:
            return not self.seconds_to_next_piece()
        events = self._partition.position - self._written_position
        elapsed = time.monotonic() - self._written_at
        interval = CALM_SNAPSHOT_SECONDS if self._is_calm else SNAPSHOT_SECONDS
        return events >= SNAPSHOT_EVENTS and elapsed >= interval

    def write_some(self) -> None:
        """Encode one piece of a snapshot, in some milliseconds, and have the thread store it.

        If the piece before is not stored yet, wait for it; `is_due` avoids that.
        """
        began = time.monotonic()
        saving = self._saving or self._save()
        self._saving = None
        stored_seconds = self._wait_for_thread()
        step = next(saving, None)
        if step is not None:
            self._saving = saving
            self._store(step)
        ended = time.monotonic()
        seconds = ended - began + stored_seconds
        self._next_piece_at = ended + min(seconds * (1 / SHARE_OF_TIME - 1), MAX_PAUSE_SECONDS)

    def write_all(self) -> None:
        """Write a snapshot of the present state, unless the last one has that position.

        Raises DatabaseAway also if the step before does not end within MAX_STORE_SECONDS.
        """
        self._saving = None
        # The unfinished snapshot is discarded, so an error of its last step does not matter.
        if self._storing is not None and wait([self._storing], MAX_STORE_SECONDS).not_done:
            raise DatabaseAway("the last piece of a snapshot is not stored yet")
        self._storing = None
        if self._partition.position > self._written_position:
            for step in self._save(PIECES_PER_STATEMENT):
                # The next pieces are encoded while the thread stores these.
                self._wait_for_thread()
                self._store(step)
            self._wait_for_thread()

    def _store(self, step: Callable[[], None]) -> None:
        self._storing, self._storing_since = _run_in_thread(step), time.monotonic()

    def _wait_for_thread(self) -> float:
        """Wait until the thread has run the last step; return the seconds that it took, 0 without one.

        Raises DatabaseAway if the step raised it.
        """
        storing, self._storing = self._storing, None
        return 0.0 if storing is None else storing.result()

    def _save(self, pieces_per_step: int = 1) -> Iterator[Callable[[], None]]:
        position = self._partition.position
        yield from self._snapshots.saving(self._partition, pieces_per_step)
        self._written_position, self._written_at = position, time.monotonic()


def _run_in_thread(step: Callable[[], None]) -> Future[float]:
    """Run a step in a new thread; its result is the seconds that it took, or the error that it raised."""
    stored: Future[float] = Future()

    def run() -> None:
        began = time.monotonic()
        try:
            step()
        except BaseException as error:
            stored.set_exception(error)
        else:
            stored.set_result(time.monotonic() - began)

    # A daemon, because a stopping process must not wait for a database that hangs.
    Thread(target=run, name="snapshot", daemon=True).start()
    return stored
