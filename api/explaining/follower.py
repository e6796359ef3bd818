"""What a scheduler knows at a position of the log, in a process that decides nothing."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from typing import Final

from api.processes.garbage import nothing_collected
from api.store.event_log import EventLog
from api.store.lease import SCHEDULER
from api.store.log_part import LogPart
from api.store.snapshots import Snapshots
from domain.scheduling.not_folded import NOT_FOLDED
from domain.scheduling.partition import Partition
from projections.database import AWAY, away

LEFT_OUT: Final = sorted(NOT_FOLDED)


class Follower:
    """Mutable; reads the log only when it is asked. Not thread-safe. Calls raise DatabaseAway.

    It begins with the scheduler's snapshot, and keeps two partitions: that of the end of the log, and one of
    the past that was asked for last.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._log = EventLog(url, pool_size=1)
        self._snapshots = Snapshots(self._log, SCHEDULER)
        self._present: Partition | None = None
        self._past: Partition | None = None

    def at_end(self) -> Partition:
        """Of the log as it is now; of no use any more when the next is asked for."""
        self._present = self._through(self._present, self._log.end(), self._snapshots.load)
        return self._present

    def at(self, position: int) -> Partition:
        """Of the past, at the end of a commit. Where a later one was asked for before, from the beginning."""
        if self._past is not None and self._past.position > position:
            self._past = None
        self._past = self._through(self._past, position, Partition)
        return self._past

    def _through(self, known: Partition | None, position: int, begin: Callable[[], Partition]) -> Partition:
        with nothing_collected():
            partition = begin() if known is None else known
            try:
                with closing(LogPart(self._url, LEFT_OUT, partition.position)) as log:
                    for recorded in log.upto(position):
                        partition.apply(recorded)
            except AWAY as error:
                raise away(error) from error
        partition.pass_over(position)
        return partition

    def close(self) -> None:
        self._log.close()
