"""What a scheduler knows at a position of the log, in a process that decides nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from datetime import datetime
from typing import Final

from api.processes.garbage import nothing_collected
from api.store.event_log import EventLog
from api.store.lease import SCHEDULER
from api.store.log_part import LogPart
from api.store.snapshots import Snapshots
from api.store.sql import SQL
from domain.events import Recorded
from domain.scheduling.not_folded import NOT_FOLDED
from domain.scheduling.partition import Partition
from projections.database import AWAY, away
from replay.verify.decided import DecidedCommit, decided, event_position

LEFT_OUT: Final = sorted(NOT_FOLDED)
# A snapshot is read in about the time that so many events take.
WORTH_A_SNAPSHOT: Final = 50_000


class Follower:
    """Mutable; reads the log only when it is asked. Not thread-safe. Calls raise DatabaseAway.

    It begins with a snapshot of the scheduler's, and keeps two partitions: that of the end of the log, and
    one of the past that was asked for last.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._log = EventLog(url, pool_size=1)
        self._snapshots = Snapshots(self._log, SCHEDULER)
        self._present: Partition | None = None
        self._past: Partition | None = None

    def end(self) -> int:
        """The end of the log as it is now."""
        return self._log.end()

    def at_end(self) -> Partition:
        return self.at(self.end(), is_end=True)

    def at(self, position: int, *, is_end: bool = False) -> Partition:
        """At the end of a commit, or of the log; of no use any more when the next is asked for."""
        present = self._present
        if is_end or (present is not None and present.position <= position):
            self._present = self._through(present, position)
            return self._present
        if self._past is not None and self._past.position > position:
            self._past = None
        self._past = self._through(self._past, position)
        return self._past

    def before(self, made: DecidedCommit) -> Partition:
        """As whoever decided a commit knew it, with its first cause to be answered first."""
        partition = self.at(made.basis.position)
        position = event_position(made.cause)
        if position is not None:
            partition.triggers.answered_before(position)
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
        happened = self._log.load({subject: 0})[subject]
        return [recorded for recorded in happened if recorded.position <= upto]

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
        with nothing_collected():
            partition = self._begun(known, position)
            with self._part(partition.position) as log:
                for recorded in log.upto(position):
                    partition.apply(recorded)
        partition.pass_over(position)
        return partition

    def _begun(self, known: Partition | None, position: int) -> Partition:
        """With what was known before, or with a snapshot where that is nearer."""
        if known is not None and position - known.position <= WORTH_A_SNAPSHOT:
            return known
        kept = self._snapshots.load(position)
        return kept if known is None or kept.position > known.position else known

    def close(self) -> None:
        self._log.close()
