"""Faults to plant in the scheduler, each against a rule of the design."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import pytest

from domain.partition_numbers import DEFAULT_PARTITION
from domain.priority import Priority
from domain.scheduling.decisions import new_job, overtaking, room_order, wake_groups, wake_up_grants
from domain.scheduling.ranked import Rank
from domain.scheduling.sets.set_states import SetStates
from domain.scheduling.world import partition
from store.event_log import EventLog
from store.requests import AppendRequest, Outcome
from tests.domain.scheduling.rules import rules

Plant = Callable[[pytest.MonkeyPatch], None]

# The sum of a priority and its opposite, and more positions than a history has.
PRIORITY_SUM = int(min(Priority) + max(Priority))
LONG = 1 << 20


def everything_is_safe(patch: pytest.MonkeyPatch) -> None:
    for module in (new_job, overtaking, room_order, wake_groups, wake_up_grants):
        patch.setattr(module, "is_safe", lambda *_: True)


def last_come_first_served(patch: pytest.MonkeyPatch) -> None:
    ranked = SetStates.rank

    def backwards(self: SetStates, host: object) -> Rank:
        negative_priority, submission, recipe_id = ranked(self, host)  # type: ignore[arg-type]
        return Rank(-PRIORITY_SUM - negative_priority, LONG - submission, recipe_id)

    patch.setattr(SetStates, "rank", backwards)


def nobody_wakes_up(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(partition.Partition.__init__, "__defaults__", (DEFAULT_PARTITION, rules(wakes=())))


def nobody_lets_go(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(partition.Partition.__init__, "__defaults__", (DEFAULT_PARTITION, rules(lets_go=())))


def not_expected(kind: str) -> Plant:
    """Return a fault that skips the version check for aggregates of a kind."""

    def plant(patch: pytest.MonkeyPatch) -> None:
        append = EventLog.append

        def unexpecting(self: EventLog, requests: Sequence[AppendRequest]) -> list[Outcome]:
            return append(self, [_as_of_now(self, request, kind) for request in requests])

        patch.setattr(EventLog, "append", unexpecting)

    return plant


def _as_of_now(log: EventLog, request: AppendRequest, kind: str) -> AppendRequest:
    concerned = [subject for subject in request.expected if subject.startswith(f"{kind}/")]
    now = {subject: len(past) for subject, past in log.load(dict.fromkeys(concerned, 0)).items()}
    return replace(request, expected={**request.expected, **now})


@dataclass(frozen=True)
class PlantedFault:
    """A fault; `found` matches the violated invariant, or the error of the next reader of the log.

    `seed` leads to it within few examples.
    """

    plant: Plant
    found: str
    seed: int


FAULTS: Mapping[str, PlantedFault] = {
    "safety": PlantedFault(everything_is_safe, "no_unsafe_grant|no_holder_stuck|no_deadlock", 5),
    "rank": PlantedFault(last_come_first_served, "nobody_jumped", 5),
    # A recipe without its wake-up is overtaken by a later one, or waits beside an idle system.
    "wake-ups": PlantedFault(nobody_wakes_up, "no_idle_system_wanted|nobody_jumped", 5),
    "let-go": PlantedFault(nobody_lets_go, "no_holder_stuck|no_unsafe_grant", 7),
    "versions of systems": PlantedFault(
        not_expected("system"), "in_step|legal_transitions|one_lab_per_set", 5
    ),
    "versions of recipes": PlantedFault(
        not_expected("recipe"),
        "legal_transitions|in_step|starts_together|claims_in_order|has events before it was new",
        2,
    ),
}
