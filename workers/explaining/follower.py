"""The state of a scheduler at any position of the log, for a process that decides nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from datetime import datetime
from typing import Final

from domain.events import Recorded
from domain.scheduling.world.batches import catch_up
from domain.scheduling.world.partition import Partition
from domain.scheduling.world.skipped_events import SKIPPED_TOPICS
from postgres.errors import AWAY, away
from replay.verify.recorded_decisions import DecidedCommit, decided
from runtime.processes.garbage_collection import collect_frozen, gc_paused
from store.event_log import EventLog
from store.lease import SCHEDULER
from store.log_part import LogPart
from store.snapshots import Snapshots
from store.sql import SQL

EXCLUDED_TOPICS: Final = sorted(SKIPPED_TOPICS)
# Reading a snapshot takes about as long as reading this number of events.
SNAPSHOT_COST_EVENTS: Final = 50_000

PRESENT, PAST = "present", "past"


class Follower:
    """A reader of the log that keeps two partitions: one at the end of the log, and the last one of the past.

    Mutable, not thread-safe. It reads the log only when it is called, beginning with a snapshot of the
    scheduler. Calls raise DatabaseAway.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._log = EventLog(url, pool_size=1)
        self._snapshots = Snapshots(self._log, SCHEDULER)
        self._partitions: dict[str, Partition] = {}

    def end(self) -> int:
        """Return the position at the present end of the log."""
        return self._log.end()

    def at_end(self) -> Partition:
        return self.at(self.end(), is_end=True)

    def at(self, position: int, *, is_end: bool = False) -> Partition:
        """Return the partition at the end of a commit, or of the log. The next call may change it."""
        which = PRESENT if is_end or self._has_passed(position) else PAST
        partition = self._through(self._near(which, position), position)
        self._partitions[which] = partition
        return partition

    def _has_passed(self, position: int) -> bool:
        present = self._partitions.get(PRESENT)
        return present is not None and present.position <= position

    def _near(self, which: str, position: int) -> Partition | None:
        """Return the kept partition if the position is reached sooner from there than from a snapshot.

        Otherwise free it before a snapshot is read, since memory may not suffice for both.
        """
        kept = self._partitions.pop(which, None)
        if kept is None or 0 <= position - kept.position <= SNAPSHOT_COST_EVENTS:
            return kept
        del kept
        collect_frozen()
        return None

    def before(self, commit: DecidedCommit) -> Partition:
        """Return the partition at the basis of a commit, where its first cause is the next trigger."""
        partition = self.at(commit.basis.position)
        catch_up(partition.triggers, partition.sets, commit.stamp)
        return partition

    def commit_of(self, granted: Recorded) -> DecidedCommit:
        """Return the commit of the scheduler that has this event."""
        assert granted.stamp.basis is not None, "the scheduler decided it"
        with self._part(granted.stamp.basis.position) as log:
            since = log.upto(granted.commit_end)
            commit = decided([recorded for recorded in since if recorded.commit_end == granted.commit_end])
        assert commit is not None, "the scheduler decided it"
        return commit

    def past(self, subject: str, upto: int) -> list[Recorded]:
        """Return the events of a subject up to a position."""
        return self.pasts([subject], upto)[subject]

    def pasts(self, subjects: Iterable[str], upto: int) -> dict[str, list[Recorded]]:
        """Return the events of each subject up to a position. One query."""
        found = self._log.load(dict.fromkeys(subjects, 0))
        return {
            subject: [recorded for recorded in happened if recorded.position <= upto]
            for subject, happened in found.items()
        }

    def moments(self, positions: Iterable[int]) -> dict[int, datetime]:
        """Return the times at which the events at these positions were recorded."""
        return dict(self._log.rows(SQL["moments"], (sorted(positions),)))

    @contextmanager
    def _part(self, after: int) -> Iterator[LogPart]:
        try:
            with closing(LogPart(self._url, EXCLUDED_TOPICS, after)) as log:
                yield log
        except AWAY as error:
            raise away(error) from error

    def _through(self, kept: Partition | None, position: int) -> Partition:
        if kept is not None and kept.position == position:
            return kept
        with gc_paused():
            partition = self._snapshots.load(position) if kept is None else kept
            with self._part(partition.position) as log:
                for recorded in log.upto(position):
                    partition.apply(recorded)
        partition.pass_over(position)
        return partition

    def close(self) -> None:
        self._log.close()
