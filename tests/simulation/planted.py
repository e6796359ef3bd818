"""Faults planted in production code, or in what the database promises: each is one that a seed must find."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from domain.access.submitting import Submitting, Who
from domain.events import Recorded
from domain.priority import Priority
from domain.scheduling.decisions import choice
from domain.scheduling.supply.availability import Availability
from projections.folding import fold
from projections.projector import CHANNEL, Projector
from projections.sql import SQL
from store.in_memory import LogTables
from tests.random_histories.faults import everything_is_safe, nobody_wakes_up

Plant = Callable[[pytest.MonkeyPatch], None]


def whoever_has_it(patch: pytest.MonkeyPatch) -> None:
    """A system is given away without a look whether somebody has it."""
    patch.setattr(Availability, "idle", Availability.usable)


def no_fence(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(LogTables, "fenced", lambda *_: False)


def no_versions(patch: pytest.MonkeyPatch) -> None:
    """Whatever has changed meanwhile, what was decided is written behind it."""
    append = LogTables.append

    def unexpecting(self: LogTables, *arrays: Any) -> Any:
        command_ids, leases, epochs, digests, answers, numbers, subjects, _, *events = arrays
        seen: dict[str, int] = {}
        versions = []
        for subject in events[1]:
            seen[subject] = seen.get(subject, self.versions.get(subject, 0)) + 1
            versions.append(seen[subject])
        now = [self.versions.get(subject, 0) for subject in subjects]
        return append(self, command_ids, leases, epochs, digests, answers, numbers, subjects, now,
                      *events[:2], versions, *events[3:])  # fmt: skip

    patch.setattr(LogTables, "append", unexpecting)


def no_command_ids(patch: pytest.MonkeyPatch) -> None:
    """Who asks again because the answer was lost has it done again."""
    outcome = LogTables._outcome

    def forgetful(self: LogTables, request: Any) -> str:
        known, self.commits = self.commits, {}
        try:
            return outcome(self, request)
        finally:
            self.commits = known

    patch.setattr(LogTables, "_outcome", forgetful)
    patch.setattr(LogTables, "commits_of", lambda *_: [])


def tracking_apart(patch: pytest.MonkeyPatch) -> None:
    """Rows in one transaction, the position in another."""

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


def what_is_lent_is_had(patch: pytest.MonkeyPatch) -> None:
    """Whoever has borrowed a system does not have it alone."""
    patch.setattr(Submitting, "is_lent_away", lambda *_: False)


def all_is_urgent(patch: pytest.MonkeyPatch) -> None:
    """Who may submit to a system at all may do so at any priority."""
    maximum = Submitting.maximum

    def uncapped(self: Submitting, who: Who) -> Priority | None:
        return None if maximum(self, who) is None else Priority.Urgent

    patch.setattr(Submitting, "maximum", uncapped)


def wall_clock(patch: pytest.MonkeyPatch) -> None:
    """Which of several systems a recipe takes depends on when it is asked."""

    def by_the_clock(*_: Any) -> Callable[[int], int]:
        return lambda left: choice.nth(left, time.time_ns() // 1000 % left.bit_count())

    patch.setattr(choice, "_by_preference", by_the_clock)


@dataclass(frozen=True)
class Planted:
    """`found` is what is said of it, by one of the seeds `first` and after, so many at most."""

    plant: Plant
    found: str
    first: int = 1
    seeds: int = 12


PLANTED: Mapping[str, Planted] = {
    "double grant": Planted(whoever_has_it, "audit|nobody caught"),
    # Few seeds have a holder that appends once more when it was replaced.
    "fencing": Planted(no_fence, "nobody_fenced_writes", first=29, seeds=60),
    # And few have one who moves what is being decided about, between the basis and the commit.
    "versions": Planted(no_versions, "audit|nobody caught", seeds=60),
    "command ids": Planted(no_command_ids, "is in the log 2 times|audit|nobody caught"),
    "wake-ups": Planted(
        nobody_wakes_up, "never happens|no_idle_system_wanted|nobody_jumped|mended", seeds=30
    ),
    "safety": Planted(everything_is_safe, "no_unsafe_grant|no_holder_stuck|no_deadlock"),
    "loans": Planted(what_is_lent_is_had, "lent_system"),
    "effective priorities": Planted(all_is_urgent, "nobody_jumped", first=68),
    "tracking": Planted(tracking_apart, "read model|UniqueViolation"),
    "wall clock": Planted(wall_clock, "another decision is demanded"),
}
