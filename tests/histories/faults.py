"""Faults planted in the scheduler: each is one that a rule of the design stands against."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import pytest

from api.store.event_log import EventLog
from api.store.requests import Append, Outcome
from domain.scheduling import new_job, partition, question
from domain.scheduling.recipe_sets import RecipeSets
from tests.inside.interposed import InterposedLog

Plant = Callable[[pytest.MonkeyPatch], None]


def everything_is_safe(patch: pytest.MonkeyPatch) -> None:
    for module in (new_job, question):
        patch.setattr(module, "is_safe", lambda *_: True)


def last_come_first_served(patch: pytest.MonkeyPatch) -> None:
    ranked = RecipeSets.rank

    def backwards(self: RecipeSets, host: object) -> tuple[int, ...]:
        priority, submission, recipe_id = ranked(self, host)  # type: ignore[arg-type]
        return -priority, -submission, recipe_id

    patch.setattr(RecipeSets, "rank", backwards)


def nobody_wakes_up(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(partition.Partition.__init__, "__defaults__", ((),))


def nobody_lets_go(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(partition, "LET_GOES", ())


def versions_of_the_moment(patch: pytest.MonkeyPatch) -> None:
    """What was decided goes into the log whatever has happened to whom it is about."""
    append = EventLog.append

    def unexpecting(self: InterposedLog, requests: Sequence[Append]) -> list[Outcome]:
        return append(self, [_as_of_now(self, request) for request in requests])

    patch.setattr(EventLog, "append", unexpecting)


def _as_of_now(log: EventLog, request: Append) -> Append:
    if request.fence is None:
        return request
    past = log.load(dict.fromkeys(request.expected, 0))
    return replace(request, expected={subject: len(events) for subject, events in past.items()})


# The fault, and what is wrong then: by name of the invariant, or as whoever reads that log says it.
FAULTS: Mapping[str, tuple[Plant, str]] = {
    "safety": (everything_is_safe, "no_unsafe_grant|no_holder_stuck|no_deadlock"),
    "rank": (last_come_first_served, "nobody_jumped"),
    # Who sleeps is passed by a later one, or found beside an idle system.
    "wake-ups": (nobody_wakes_up, "no_idle_system_wanted|nobody_jumped"),
    "let-go": (nobody_lets_go, "no_holder_stuck|no_unsafe_grant"),
    "versions": (
        versions_of_the_moment,
        "legal_transitions|in_step|one_recipe_per_system|one_lab_per_set|has events before it was new",
    ),
}
