"""The scheduler process: it folds the log, decides, appends its decisions, and decides again.

All its state follows from the log: unanswered triggers follow from the states of recipes and systems, and
from the triggers raised since the last answer. A new holder continues where the last one stopped.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from math import inf
from typing import NamedTuple

from domain.directory.actors import SCHEDULER
from domain.events import Basis, Change, Recorded, Stamp
from domain.intake_states import STOPPED
from domain.partition_numbers import DEFAULT_PARTITION, PartitionIdentity, read_by
from domain.scheduling.decisions.decide import POLICY_VERSION, decide
from domain.scheduling.decisions.draft import Decision
from domain.scheduling.explaining.held_back import held_back_counts
from domain.scheduling.world.late_events import may_follow
from domain.scheduling.world.partition import Partition
from domain.scheduling.world.skipped_events import SKIPPED_TOPICS
from domain.scheduling.world.tentative import CommitPlace
from postgres.errors import DatabaseAway
from store.event_log import EventLog
from store.lease import LEASE_SECONDS, Lease, scheduler_lease
from store.mapper import StoredRow
from store.requests import AppendRequest, Committed, Conflict, Fence, Fenced, Outcome, new_command_id
from store.snapshots import Snapshots
from store.tailer import Tailer
from workers.consistency import ConsistencyLoop
from workers.heartbeat import Heartbeat, Progress
from workers.snapshotting import SnapshotWriter

DECISIONS_PER_COMMIT = 500
RETRY_SECONDS = 0.2
HELD_BACK_SECONDS = 2.0
# While no system is free, new sets are only queued, so they may wait for others: each commit costs as much as
# a dozen sets, and wakes every process. A set that comes alone is queued at once.
GATHER_SECONDS = 0.01
POLL_SECONDS = 0.003

logger = logging.getLogger(__name__)


class DecodedRow(NamedTuple):
    """A row of the log, without its event if this does not affect scheduling."""

    position: int
    recorded: Recorded | None


@dataclass
class SchedulerCounters:
    """Counts since the start of the process.

    `decisions` has a count for each kind of trigger. `events` counts the events of all commits, `conflicts`
    the commits that were refused because a recipe or system had changed, `reread` those that were rolled back
    and read from the log, because events preceded them there that must be folded first. `foreign` counts
    events of other partitions that were read; there should be none.
    """

    decisions: Counter[str] = field(default_factory=Counter)
    commits: int = 0
    events: int = 0
    conflicts: int = 0
    reread: int = 0
    foreign: int = 0


class Scheduler:
    """A scheduler. Call `step` or `run` in the thread that created it.

    The tailer and the partition must have the same position. Without `consistency` there is no consistency
    loop; without `snapshots` the next scheduler reads the whole log. New sets may wait for others for
    `gather_seconds` after a commit.

    `held_back` has the numbers of recipes that admission holds back, by row, while this scheduler has the
    lease. Another thread may read it.
    """

    def __init__(
        self,
        log: EventLog,
        tailer: Tailer,
        lease: Lease,
        clock: Callable[[], datetime],
        partition: Partition | None = None,
        consistency: ConsistencyLoop | None = None,
        snapshots: Snapshots | None = None,
        gather_seconds: float = GATHER_SECONDS,
    ) -> None:
        self.partition = Partition() if partition is None else partition
        self.counters = SchedulerCounters()
        self._read_partitions = frozenset(read_by(self.partition.identity.number))
        self._snapshot_writer = None if snapshots is None else SnapshotWriter(snapshots, self.partition)
        self._log = log
        self._tailer = tailer
        self._lease = lease
        self._clock = clock
        self._gather_seconds = gather_seconds
        self._consistency = consistency
        self._fence: Fence | None = None
        # The time of the last commit.
        self._committed_at = 0.0
        # Halvings of the next commit: one more after each conflict, one less after each success.
        self._halvings = 0
        self._stopping: Callable[[], bool] = lambda: False
        self._progress = Progress()
        self.held_back: Mapping[str, int] = {}
        self._counted_at = 0.0

    def run(self, stopping: Callable[[], bool]) -> None:
        self._stopping = stopping
        with Heartbeat(self._progress, self._lease.renew, self._lease.seconds):
            while not stopping():
                try:
                    read_at = self._tailer.read_at
                    self.step(timeout_seconds=1.0)
                    if self._tailer.read_at > read_at:
                        self._progress.complete_round()
                except DatabaseAway as error:
                    # Decisions that did not reach the log are decided again.
                    self._wait_for_database(error)
            self._shut_down()

    def _wait_for_database(self, error: DatabaseAway) -> None:
        logger.warning("%s: %s", error.title, error)
        self._progress.fail()
        time.sleep(RETRY_SECONDS)

    def _shut_down(self) -> None:
        """Write a snapshot for the next scheduler, if the database can be reached, and release the lease."""
        try:
            if self._fence is not None and self._snapshot_writer is not None:
                self._snapshot_writer.write_all()
        except DatabaseAway as error:
            logger.warning("no snapshot written at shutdown: %s", error)
        self._lease.release()
        self._tailer.close()

    def step(self, timeout_seconds: float) -> None:
        """Fold new events, also without the lease, to be ready to take over; decide if the lease is held."""
        if self._must_decide():
            if self._may_gather():
                time.sleep(POLL_SECONDS)
            page = self._next_page(0.0)
        else:
            page = self._wait_for_page(min(timeout_seconds, self._seconds_to_next_piece()))
        while page:
            self._fold(page)
            page = self._next_page(0.0) if self._tailer.has_unread else ()
        if self._holds_lease() and not self._may_gather():
            self._decide()
        self._count_held_back()

    def _may_gather(self) -> bool:
        """Return whether decisions may wait for more new sets: the last commit was a moment ago."""
        is_early = time.monotonic() < self._committed_at + self._gather_seconds
        return is_early and self._must_decide() and self.partition.has_only_new_sets

    def _count_held_back(self) -> None:
        now = time.monotonic()
        if now >= self._counted_at + HELD_BACK_SECONDS:
            self._counted_at = now
            self.held_back = {} if self._fence is None else held_back_counts(self.partition)

    def _wait_for_page(self, timeout_seconds: float) -> Sequence[StoredRow]:
        began = time.monotonic()
        page = self._next_page(timeout_seconds)
        if self._snapshot_writer is not None:
            self._snapshot_writer.add_idle(time.monotonic() - began)
        return page

    def _next_page(self, timeout_seconds: float) -> Sequence[StoredRow]:
        """Read the next page. A failed read is no progress, so that a holder that cannot read is replaced."""
        read_at = self._tailer.read_at
        page = self._tailer.next_page(timeout_seconds)
        if self._tailer.read_at == read_at:
            self._progress.fail()
        return page

    def _fold(self, page: Sequence[StoredRow]) -> None:
        self._fold_decoded(map(self._decoded, page))
        if page:
            self._progress.complete_round()

    def _decoded(self, row: StoredRow) -> DecodedRow:
        self.counters.foreign += row.partition not in self._read_partitions
        if row.topic in SKIPPED_TOPICS:
            self._log.mapper.require_readable(row)
            return DecodedRow(row.position, None)
        return DecodedRow(row.position, self._log.mapper.recorded(row))

    def _fold_decoded(self, rows: Iterable[DecodedRow]) -> None:
        for position, recorded in rows:
            if recorded is None:
                self.partition.pass_over(position)
            else:
                self.partition.apply(recorded, self._past)

    def _past(self, subjects: Sequence[str], before: int) -> Sequence[Recorded]:
        """Return the past of what comes into the partition. Waits while the database is away.

        A page is folded to its end, because the tailer has passed it. Raises DatabaseAway only at a shutdown.
        """
        while True:
            try:
                return self._log.history(subjects, before)
            except DatabaseAway as error:
                if self._stopping():
                    raise
                self._wait_for_database(error)

    def _decide(self) -> None:
        if self._must_decide():
            now = self._clock()
            self._commit(now, decide(self.partition, max(1, DECISIONS_PER_COMMIT >> self._halvings), now))
        if self._fence is None or self._stopping():
            return
        # The consistency loop runs also while triggers wait, because under load some always wait.
        monotonic = time.monotonic()
        if self._consistency is not None and self._consistency.start_if_due(self.partition, monotonic):
            now = self._clock()
            self._commit(now, self._consistency.correct(self.partition, now, monotonic))
        elif self._snapshot_writer is not None and not self._must_decide() and self._snapshot_writer.is_due():
            # Snapshots wait until there is nothing to decide.
            self._snapshot_writer.write_some()

    def _seconds_to_next_piece(self) -> float:
        if self._fence is None or self._snapshot_writer is None:
            return inf
        return self._snapshot_writer.seconds_to_next_piece()

    def _must_decide(self) -> bool:
        is_stopped = self.partition.state == STOPPED
        return self._fence is not None and bool(self.partition.triggers) and not is_stopped

    def _holds_lease(self) -> bool:
        if self._fence is not None and self._lease.is_held():
            return True
        self._fence = None
        fence = self._lease.try_take()
        if fence is None:
            return False
        logger.info("lease taken", extra={"lease": fence.lease, "epoch": fence.epoch})
        # The previous holder may have appended until its lease was fenced.
        self._read_through(self._log.end_of(self.partition.identity.number))
        if self._stopping():
            # The log may not be read to its end, so nothing may be decided.
            self._lease.release()
            return False
        self._fence = fence
        return True

    def _commit(self, now: datetime, decisions: Sequence[Decision]) -> None:
        """Append the tentative decisions. Confirm them if they were appended, otherwise roll them back."""
        if not decisions:
            return
        assert self._fence is not None, "only the holder of the lease decides"
        batch, number = decisions[0].batch, self.partition.identity.number
        basis = Basis(self.partition.position, now, self._fence.epoch, POLICY_VERSION, batch, number)
        try:
            (outcome,) = self._log.append([append_request(decisions, basis, self._fence)])
            unread = self._unread_before(outcome, basis)
        except DatabaseAway:
            self.partition.rollback()
            raise
        if isinstance(outcome, Committed):
            self._halvings = max(0, self._halvings - 1)
            self._confirm(place_of(outcome), unread)
            self._committed_at = time.monotonic()
            self.counters.commits += 1
            self.counters.events += sum(len(decision.events) for decision in decisions)
            self.counters.decisions.update(decision.trigger.kind for decision in decisions)
            self._read_through(outcome.position)
            return
        self.partition.rollback()
        if isinstance(outcome, Fenced):
            logger.warning("%s", outcome)
            self._fence = None
            self._lease.release()
        elif isinstance(outcome, Conflict):
            # Another process changed a recipe or system meanwhile; its events are in the log.
            self.counters.conflicts += 1
            self._halvings += 1
            self._read_through(self._log.end_of(self.partition.identity.number))

    def _unread_before(self, outcome: Outcome, basis: Basis) -> list[StoredRow]:
        """Return the rows between the basis and the commit of its decisions."""
        if not isinstance(outcome, Committed) or place_of(outcome).preceding <= basis.position:
            return []
        return self._log.rows_between(basis.position, outcome.first_position, basis.partition)

    def _confirm(self, place: CommitPlace, unread: Sequence[StoredRow]) -> None:
        """Confirm the decisions, and then fold the rows before them if these may follow.

        Otherwise roll the decisions back, to read them with the log.
        """
        rows = list(map(self._decoded, unread))
        if all(recorded is None or may_follow(recorded.event) for _, recorded in rows):
            place = place._replace(preceding=self.partition.position)
        if self.partition.confirm(place):
            self._tailer.skip_to(self.partition.position)
            self._fold_decoded(rows)
        else:
            self.counters.reread += bool(unread)

    def _read_through(self, position: int) -> None:
        while self.partition.position < position and not self._stopping():
            self._fold(self._next_page(1.0))


def lease_for(
    url: str,
    holder: str,
    seconds: float = LEASE_SECONDS,
    partition: PartitionIdentity = DEFAULT_PARTITION,
) -> Lease:
    """Return the lease of the scheduler of a partition."""
    return Lease(url, scheduler_lease(partition), holder, seconds)


def append_request(decisions: Sequence[Decision], basis: Basis, fence: Fence) -> AppendRequest:
    changes: list[Change] = []
    expected: dict[str, int] = {}
    for number, decision in enumerate(decisions):
        stamp = Stamp(at=basis.now, actor=SCHEDULER, cause=decision.trigger.cause, basis=basis, number=number)
        changes += [Change(subject, event, stamp) for subject, event in decision.events]
        for subject, version in decision.expected:
            expected.setdefault(subject, version)
    return AppendRequest(
        command_id=new_command_id(),
        changes=tuple(changes),
        expected=expected,
        fence=fence,
        partition=basis.partition,
    )


def place_of(done: Committed) -> CommitPlace:
    """Return the place of a commit of decisions."""
    assert done.preceding is not None, "an append with a fence returns what precedes it"
    return CommitPlace(done.first_position, done.position, done.preceding, done.recorded_at)
