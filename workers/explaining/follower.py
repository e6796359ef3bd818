"""The state of a scheduler at any position of the log, for a process that decides nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from datetime import datetime
from typing import Final

from domain.errors import LabledgerError
from domain.events import Recorded
from domain.partition_numbers import DEFAULT_PARTITION, PartitionIdentity
from domain.scheduling.world.batches import catch_up
from domain.scheduling.world.partition import Partition
from domain.scheduling.world.skipped_events import SKIPPED_TOPICS
from postgres.errors import DATABASE_ERRORS, away
from replay.verify.recorded_decisions import DecidedCommit, decided
from runtime.processes.garbage_collection import collect_frozen, gc_paused
from store.event_log import EventLog, LogReader
from store.snapshots import Snapshots
from store.sql import SQL
from workers.explaining.recent_counts import RecentCounts

EXCLUDED_TOPICS: Final = sorted(SKIPPED_TOPICS)
# Reading a snapshot takes about as long as reading this number of events.
SNAPSHOT_COST_EVENTS: Final = 50_000

PRESENT, PAST = "present", "past"


class InThePast(LabledgerError):
    """The question is about the past, for which there is another process."""


class Follower:
    """A reader of the log that caches one state of a partition: the present one, or the last past one.

    Mutable, not thread-safe. It reads the log only when it is called, beginning with a snapshot of the
    scheduler. Calls raise DatabaseAway. A follower of the present raises InThePast instead of replacing its
    state, which would take the next question long to fold again.
    """

    def __init__(
        self, url: str, identity: PartitionIdentity = DEFAULT_PARTITION, moment: str = PRESENT
    ) -> None:
        self._url = url
        self._number = identity.number
        self._is_past = moment == PAST
        self._log = EventLog(url, pool_size=1)
        self._snapshots = Snapshots(self._log, identity)
        self._partition: Partition | None = None
        self.recent_counts = RecentCounts()

    def end(self) -> int:
        return self._log.end()

    def at_end(self) -> Partition:
        return self.at(self.end(), is_end=True)

    def at(self, position: int, *, is_end: bool = False) -> Partition:
        """Return the partition at the end of a commit, or of the log. The next call may change it."""
        if not is_end and not self._is_past:
            raise InThePast(f"position {position} is not the end of the log")
        # Not cached while an error may leave it between two positions.
        cached, self._partition = self._usable_for(position), None
        self._partition = self._fold_up_to(cached, position)
        return self._partition

    def _usable_for(self, position: int) -> Partition | None:
        """Return the cached partition if folding from it is faster than reading a snapshot.

        Otherwise free it before a snapshot is read, because memory may not suffice for both.
        """
        cached = self._partition
        if cached is None or 0 <= position - cached.position <= SNAPSHOT_COST_EVENTS:
            return cached
        del cached
        self._partition = None
        collect_frozen()
        return None

    def before(self, commit: DecidedCommit) -> Partition:
        """Return the partition at the basis of a commit; its next trigger is the cause of the commit."""
        partition = self.at(commit.basis.position)
        catch_up(partition.triggers, partition.sets, commit.stamp)
        return partition

    def commit_of(self, granted: Recorded) -> DecidedCommit:
        assert granted.stamp.basis is not None, "the scheduler decided it"
        with self._log_after(granted.stamp.basis.position) as log:
            events = log.upto(granted.commit_end)
            commit = decided([recorded for recorded in events if recorded.commit_end == granted.commit_end])
        assert commit is not None, "the scheduler decided it"
        return commit

    def past(self, subject: str, upto: int) -> list[Recorded]:
        return self.pasts([subject], upto)[subject]

    def pasts(self, subjects: Iterable[str], upto: int) -> dict[str, list[Recorded]]:
        """Return the events of each subject up to a position. One query."""
        loaded = self._log.load(dict.fromkeys(subjects, 0))
        return {
            subject: [recorded for recorded in events if recorded.position <= upto]
            for subject, events in loaded.items()
        }

    def moments(self, positions: Iterable[int]) -> dict[int, datetime]:
        return dict(self._log.rows(SQL["moments"], (sorted(positions),)))

    @contextmanager
    def _log_after(self, after: int) -> Iterator[LogReader]:
        try:
            with closing(LogReader(self._url, EXCLUDED_TOPICS, self._number, after)) as log:
                yield log
        except DATABASE_ERRORS as error:
            raise away(error) from error

    def _fold_up_to(self, cached: Partition | None, position: int) -> Partition:
        if cached is not None and cached.position == position:
            return cached
        with gc_paused():
            partition = self._snapshots.load(position) if cached is None else cached
            with self._log_after(partition.position) as log:
                for recorded in log.upto(position):
                    partition.apply(recorded, self._log.history)
        partition.pass_over(position)
        return partition

    def close(self) -> None:
        self._log.close()
