"""What a scheduler knows at a position of the log, in a process that decides nothing."""

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

LEFT_OUT: Final = sorted(SKIPPED_TOPICS)
# A snapshot is read in about the time that so many events take.
WORTH_A_SNAPSHOT: Final = 50_000

PRESENT, PAST = "present", "past"


class Follower:
    """Mutable; reads the log only when it is asked. Not thread-safe. Calls raise DatabaseAway.

    It begins with a snapshot of the scheduler's, and keeps two partitions: that of the end of the log, and
    one of the past that was asked for last.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._log = EventLog(url, pool_size=1)
        self._snapshots = Snapshots(self._log, SCHEDULER)
        self._known: dict[str, Partition] = {}

    def end(self) -> int:
        """The end of the log as it is now."""
        return self._log.end()

    def at_end(self) -> Partition:
        return self.at(self.end(), is_end=True)

    def at(self, position: int, *, is_end: bool = False) -> Partition:
        """At the end of a commit, or of the log; of no use any more when the next is asked for."""
        which = PRESENT if is_end or self._has_passed(position) else PAST
        partition = self._through(self._near(which, position), position)
        self._known[which] = partition
        return partition

    def _has_passed(self, position: int) -> bool:
        present = self._known.get(PRESENT)
        return present is not None and present.position <= position

    def _near(self, which: str, position: int) -> Partition | None:
        """What was known before, where the position is reached from there rather than from a snapshot.

        Else it is forgotten first: two of them would not find room everywhere.
        """
        known = self._known.pop(which, None)
        if known is None or 0 <= position - known.position <= WORTH_A_SNAPSHOT:
            return known
        del known
        collect_frozen()
        return None

    def before(self, made: DecidedCommit) -> Partition:
        """As whoever decided a commit knew it, with its first cause to be answered first."""
        partition = self.at(made.basis.position)
        catch_up(partition.triggers, partition.sets, made.stamp)
        return partition

    def commit_of(self, granted: Recorded) -> DecidedCommit:
        """The commit of the scheduler in which an event is."""
        assert granted.stamp.basis is not None, "the scheduler decided it"
        with self._part(granted.stamp.basis.position) as log:
            since = log.upto(granted.commit_end)
            made = decided([recorded for recorded in since if recorded.commit_end == granted.commit_end])
        assert made is not None, "the scheduler decided it"
        return made

    def past(self, subject: str, upto: int) -> list[Recorded]:
        """What happened to a subject up to a position."""
        return self.pasts([subject], upto)[subject]

    def pasts(self, subjects: Iterable[str], upto: int) -> dict[str, list[Recorded]]:
        """Return the events of each subject up to a position. One query."""
        found = self._log.load(dict.fromkeys(subjects, 0))
        return {
            subject: [recorded for recorded in happened if recorded.position <= upto]
            for subject, happened in found.items()
        }

    def moments(self, positions: Iterable[int]) -> dict[int, datetime]:
        """When these events were recorded."""
        return dict(self._log.rows(SQL["moments"], (sorted(positions),)))

    @contextmanager
    def _part(self, after: int) -> Iterator[LogPart]:
        try:
            with closing(LogPart(self._url, LEFT_OUT, after)) as log:
                yield log
        except AWAY as error:
            raise away(error) from error

    def _through(self, known: Partition | None, position: int) -> Partition:
        if known is not None and known.position == position:
            return known
        with gc_paused():
            partition = self._snapshots.load(position) if known is None else known
            with self._part(partition.position) as log:
                for recorded in log.upto(position):
                    partition.apply(recorded)
        partition.pass_over(position)
        return partition

    def close(self) -> None:
        self._log.close()
