"""Planted faults of production code or of the database. A seed must find each of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from domain.access.submit_rights import SubmitRights, Submitter
from domain.events import Recorded
from domain.job import state as job_state
from domain.priority import Priority
from domain.scheduling.admitting.admission import Admission
from domain.scheduling.admitting.open_jobs import OpenJobs
from domain.scheduling.admitting.room_limits import NO_NEEDS
from domain.scheduling.admitting.rooms import Rooms
from domain.scheduling.decisions import choice, new_job, pending_system, wake_up_grants
from domain.scheduling.locking.lock_queue import LockQueue
from domain.scheduling.supply.availability import Availability
from domain.scheduling.world import lab_moves, partition
from domain.scheduling.world.partition import Partition
from domain.system.state import System
from projections.folding import fold
from projections.projector import CHANNEL, Projector
from projections.sql import SQL
from store.log_tables import LogTables
from tests.random_histories.faults import everything_is_safe, nobody_wakes_up
from tests.simulation.database.live_tables import LiveTables

Plant = Callable[[pytest.MonkeyPatch], None]


def double_grant(patch: pytest.MonkeyPatch) -> None:
    """Grant systems without a check whether they are in use."""
    patch.setattr(Availability, "idle", Availability.usable)


def ignore_fence(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(LogTables, "is_fenced", lambda *_: False)


def everybody_holds_the_lease(patch: pytest.MonkeyPatch) -> None:
    """Give the lease to each process that asks for it, in one epoch."""

    def take(self: LiveTables, _: Any, params: Any) -> Any:
        log, (name, *_) = self._server.log, params
        return [(log.epochs.get(name) or log.next_epoch(name),)]

    patch.setattr(LiveTables, "take_lease", take)


def no_versions(patch: pytest.MonkeyPatch) -> None:
    """Append decisions without a check of their expected versions."""
    append = LogTables.append

    def unexpecting(self: LogTables, *arrays: Any) -> Any:
        command_ids, leases, epochs, digests, answers, numbers, subjects, _, partitions, *events = arrays
        seen: dict[str, int] = {}
        versions = []
        for subject in events[1]:
            seen[subject] = seen.get(subject, self.versions.get(subject, 0)) + 1
            versions.append(seen[subject])
        now = [self.versions.get(subject, 0) for subject in subjects]
        return append(self, command_ids, leases, epochs, digests, answers, numbers, subjects, now,
                      partitions, *events[:2], versions, *events[3:])  # fmt: skip

    patch.setattr(LogTables, "append", unexpecting)


def no_command_ids(patch: pytest.MonkeyPatch) -> None:
    """Ignore command ids, so that a repeated request is executed again."""
    outcome = LogTables._outcome

    def forgetful(self: LogTables, request: Any) -> str:
        commits, self.commits = self.commits, {}
        try:
            return outcome(self, request)
        finally:
            self.commits = commits

    patch.setattr(LogTables, "_outcome", forgetful)
    patch.setattr(LogTables, "commits_of", lambda *_: [])


def tracking_apart(patch: pytest.MonkeyPatch) -> None:
    """Commit the rows in one transaction and the position in another."""

    def project(self: Projector, page: Sequence[Recorded]) -> None:
        last = page[-1]
        with self._connection.transaction(), self._connection.cursor() as cursor:
            self._models.begin(cursor, page)
            for recorded in page:
                fold(self._models, recorded)
            self._models.flush(cursor)
        with self._connection.transaction(), self._connection.cursor() as cursor:
            self._move(cursor, last)
            cursor.execute(SQL["notify"], (CHANNEL, str(last.position)))

    patch.setattr(Projector, "_project", project)


def ignore_loans(patch: pytest.MonkeyPatch) -> None:
    """Ignore loans when systems are granted."""
    patch.setattr(SubmitRights, "is_lent_away", lambda *_: False)


def ignore_maximum_priorities(patch: pytest.MonkeyPatch) -> None:
    """Ignore maximum priorities of access policies."""
    maximum = SubmitRights.maximum

    def uncapped(self: SubmitRights, who: Submitter) -> Priority | None:
        return None if maximum(self, who) is None else Priority.Urgent

    patch.setattr(SubmitRights, "maximum", uncapped)


def wall_clock(patch: pytest.MonkeyPatch) -> None:
    """Choose among several systems by the wall clock."""

    def by_wall_clock(*_: Any) -> Callable[[int], int]:
        return lambda left: choice.nth(left, time.time_ns() // 1000 % left.bit_count())

    patch.setattr(choice, "_by_preference", by_wall_clock)


def locks_conflict_with_nothing(patch: pytest.MonkeyPatch) -> None:
    """Start each set at once, whatever locks others hold."""
    patch.setattr(LockQueue, "can_start", lambda *_: True)


def nobody_held_back(patch: pytest.MonkeyPatch) -> None:
    """Ignore dependencies and job filters that pause or reject."""
    patch.setattr(Admission, "why_held_back", lambda *_: None)


def nobody_needs_room(patch: pytest.MonkeyPatch) -> None:
    """Ignore rate limits and the maximum of placed recipes."""
    patch.setattr(Rooms, "needs", lambda *_: NO_NEEDS)


def room_by_system(patch: pytest.MonkeyPatch) -> None:
    """Give room to the set whose system is asked first."""
    for module in (new_job, pending_system, wake_up_grants):
        patch.setattr(module, "first_rival", lambda *_: None)


def grants_in_labs_that_left(patch: pytest.MonkeyPatch) -> None:
    """Grant idle systems of labs that have left for another partition."""

    def gone(system: System) -> System:
        return system if system.usage == "idle" else lab_moves.gone(system)

    def serve(self: Partition, lab: str) -> None:
        self.available.serve(lab, self.directory.is_serving(lab))

    patch.setattr(partition, "gone", gone)
    patch.setattr(Partition, "_serve", serve)


def open_for_ever(patch: pytest.MonkeyPatch) -> None:
    """Close no job by the timer."""
    patch.setattr(OpenJobs, "to_close", lambda *_: iter(()))


def unknown_keys(patch: pytest.MonkeyPatch) -> None:
    """Add a set again that the job has by the same key."""
    patch.setattr(job_state, "_by_key", lambda *_: {})


@dataclass(frozen=True)
class Planted:
    """A planted fault.

    `seeds` is the number of seeds to try from `first` on; one of them must have a finding that matches
    `found`.
    """

    plant: Plant
    found: str
    first: int = 1
    seeds: int = 12


PLANTED: Mapping[str, Planted] = {
    "double grant": Planted(double_grant, "audit|uncaught"),
    # Few seeds have a former holder of the lease that appends once more.
    # What a scheduler without a lease writes is found by its epoch, or by its basis.
    "fencing": Planted(ignore_fence, r"nobody_fenced_writes|basis \d+ follows basis", first=102, seeds=60),
    "lease": Planted(everybody_holds_the_lease, "both decide in epoch"),
    # Few seeds have a user who changes a subject of a decision between its basis and its commit.
    "versions": Planted(no_versions, "audit|uncaught", first=2, seeds=60),
    "command ids": Planted(no_command_ids, "is in the log 2 times|audit|uncaught"),
    "wake-ups": Planted(nobody_wakes_up, "consistency loop|no_idle_system_wanted|nobody_jumped", seeds=30),
    "safety": Planted(everything_is_safe, "no_unsafe_grant|no_holder_stuck|no_deadlock", first=2),
    "loans": Planted(ignore_loans, "lent_system", first=2),
    # In one of some 35 seeds a maximum priority decides who is first, and before seed 90 in none.
    "effective priorities": Planted(ignore_maximum_priorities, "nobody_jumped", first=90, seeds=120),
    "locks": Planted(locks_conflict_with_nothing, "no_conflicting_locks|no_lock_jumped|starts_with_locks"),
    "admission": Planted(nobody_held_back, "admitted|rightful_claims"),
    "room": Planted(nobody_needs_room, "admitted .*: its set has no room under|without room for its set"),
    "order of room": Planted(room_by_system, "no_room_jumped", first=2, seeds=30),
    # A lab must leave while its systems are idle, and a recipe that waits must fit one.
    "systems of another partition": Planted(
        grants_in_labs_that_left, "grants_in_partition|usable_grant", first=54
    ),
    "close of open jobs": Planted(open_for_ever, "is open for ever", first=3),
    "keys": Planted(unknown_keys, "sets with the key", first=3),
    "tracking": Planted(tracking_apart, "read model|UniqueViolation"),
    "wall clock": Planted(wall_clock, "recomputed decision differs"),
}
