"""Conditions of systems, and their policies."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product

import pytest

from domain.access.policy import Policy, PolicyEntry, policy_form
from domain.errors import Refused
from domain.events import Event
from domain.recipe.events import RecipeAborted, RecipeAssigned, RecipeQueued
from domain.recipe_set.members import Members
from domain.requirements.host import HOST
from domain.system.events import (
    SystemConditionChanged,
    SystemIdle,
    SystemLoanEnded,
    SystemPending,
    SystemReservationEnded,
)
from domain.system.lifecycle import CONDITIONS
from domain.system.state import Loan, Reservation, System
from domain.system_admin.condition import change_condition
from domain.system_admin.policy import change_policy, leave_pool, remove_system_references
from tests.domain.recipe.samples import system_in
from tests.domain.recipe_set.samples import guest_of, set_of

FORCES_A = HOST.examine({"force": "a"}).text


@dataclass(frozen=True)
class Setup:
    """The occupant of system `a`: a recipe in a state, a person, or none (then its usage)."""

    usage: str
    recipe: str | None = None
    forced: bool = False
    reserved: bool = False
    draining: bool = False

    def system(self, condition: str) -> System:
        reservation = Reservation("ada", None, None) if self.reserved else None
        system = replace(system_in(self.usage, condition), draining=self.draining, reservation=reservation)
        return replace(system, recipe_id=None) if self.recipe is None else system

    def members(self, system: System) -> Members | None:
        if self.recipe is None:
            return None
        members = set_of(self.recipe)
        requires = FORCES_A if self.forced else members.recipes[0].host_requires
        recipe = replace(members.recipes[0], host_requires=requires)
        return Members((recipe,), {"a": system})


IDLE, PENDING = Setup("idle"), Setup("pending")
DRAINING = Setup("idle", draining=True)
SCHEDULED, FORCED = (Setup("scheduled", "scheduled"), Setup("scheduled", "scheduled", forced=True))
RUNNING, RUNNING_FORCED = (Setup("running", "running"), Setup("running", "running", forced=True))
KEPT = Setup("running", "reserved")
A_PERSON, PROVISIONED = Setup("running", reserved=True), Setup("installing", reserved=True)

CASES = (
    *(IDLE, PENDING, DRAINING, SCHEDULED, FORCED),
    *(Setup("waiting", "waiting"), Setup("installing", "installing"), RUNNING, RUNNING_FORCED, KEPT),
    *(A_PERSON, PROVISIONED),
)


def follows(case: Setup, condition: str) -> list[Event]:
    """Return the events that follow the change of the condition, as the design says."""
    why = f"a is {condition}: fan"
    withdrawn = [RecipeQueued(reason=why), SystemIdle()]
    aborted = [RecipeAborted(reason=why), SystemIdle()]
    table: dict[str, list[Event]] = {
        # The system becomes pending, or stops being pending.
        "free": [SystemPending()] if condition == "Automated" else [],
        "asked about": [SystemPending() if condition == "Automated" else SystemIdle()],
        "draining": [],
        # A recipe that has not started keeps its rank. A recipe that forces the system keeps the system.
        "not started": withdrawn if condition in ("Broken", "Removed") else [],
        "not started, forced": withdrawn if condition == "Removed" else [],
        # Manual: usage follows the recipe until it ends.
        "started": aborted if condition in ("Broken", "Removed") else [],
        "a person": [SystemReservationEnded(reason=why), SystemIdle()] if condition == "Removed" else [],
    }
    return table[kind_of(case)]


def kind_of(case: Setup) -> str:
    if case.reserved:
        return "a person"
    if case.recipe is not None:
        waits = "not started, forced" if case.forced else "not started"
        return waits if case.recipe == "scheduled" else "started"
    if case.draining:
        return "draining"
    return "asked about" if case.usage == "pending" else "free"


EVERY = [
    pytest.param(case, before, after, id=f"{case.usage}-{kind_of(case)}-{before}-{after}".replace(" ", "-"))
    for case, before, after in product(CASES, CONDITIONS, CONDITIONS)
    if before != after and (case != PENDING or before == "Automated")
]


@pytest.mark.parametrize(("case", "before", "after"), EVERY)
def test_change_condition__any_occupant_and_conditions__follows_the_table(
    case: Setup, before: str, after: str
) -> None:
    system = case.system(before)
    decided = change_condition(system, case.members(system), after, "fan")
    changed = SystemConditionChanged(condition=after, reason="fan")
    assert [event for _, event in decided] == [changed, *follows(case, after)]
    for subject, event in decided:
        assert subject == ("system/a" if event.TOPIC.startswith("system.") else "recipe/1")


@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize("case", [IDLE, SCHEDULED, RUNNING, A_PERSON])
def test_change_condition__same_as_before__changes_nothing(case: Setup, condition: str) -> None:
    system = case.system(condition)
    assert change_condition(system, case.members(system), condition, "again") == []


def test_change_condition__no_reason_given__none_recorded() -> None:
    system = RUNNING.system("Automated")
    decided = change_condition(system, RUNNING.members(system), "Broken", "")
    assert decided[1] == ("recipe/1", RecipeAborted(reason="a is Broken"))


def test_change_condition__holder_of_another_system_too__only_the_recipe_on_it_loses_it() -> None:
    members = set_of("scheduled", "scheduled", "assigned")
    decided = change_condition(members.systems["a"], members, "Broken", "fan")
    lost = RecipeAssigned(lab_controller="lab-1", reason="a is Broken: fan")
    assert decided[1:] == [("recipe/1", lost), ("system/a", SystemIdle())]


def test_change_condition__host_with_a_guest_runs_on_it__only_these_two_are_aborted() -> None:
    members = set_of("running", "running")
    members = replace(members, recipes=(*members.recipes, guest_of(members.recipes[0], 9)))
    decided = change_condition(members.systems["a"], members, "Broken", "fan")
    assert [subject for subject, _ in decided] == ["system/a", "recipe/1", "recipe/9", "system/a"]


OPEN: Policy = (PolicyEntry("view"),)
SYSTEM = system_in("idle", "Manual")
OWN = replace(SYSTEM, access_policy=OPEN, active_pool="big")


def test_change__equal_policy__no_event() -> None:
    assert change_policy(OWN, policy_form(OPEN), "big", ["big"]) == []
    # A system without its own policy differs from one with an equal policy of its own.
    assert len(change_policy(SYSTEM, policy_form(OPEN), None, [])) == 1
    assert len(change_policy(OWN, policy_form(OPEN), None, ["big"])) == 1


def test_change__active_pool_without_the_system__refused() -> None:
    with pytest.raises(Refused, match="is not in pool big"):
        change_policy(SYSTEM, [], "big", ["small"])


def test_leave__active_pool__own_policy_applies() -> None:
    ((_, changed),) = leave_pool(OWN, "big")
    assert changed.active_pool is None and changed.entries == policy_form(OPEN)  # type: ignore[attr-defined]
    assert leave_pool(OWN, "small") == []


def test_part_with__user__loan_reservation_and_entries_end() -> None:
    named = (*OPEN, PolicyEntry("reserve", "bob"), PolicyEntry("reserve", group="bob"))
    system = replace(OWN, access_policy=named, loan=Loan("bob", None))
    *_, (_, changed) = decided = remove_system_references(system, "user", "bob", "retired")
    assert decided[0][1] == SystemLoanEnded("user bob was removed: retired")
    assert [event.TOPIC for _, event in decided] == ["system.loan-ended", "system.access-policy-changed"]
    left = (*OPEN, PolicyEntry("reserve", group="bob"))
    assert (changed.entries, changed.active_pool) == (policy_form(left), "big")  # type: ignore[attr-defined]
    assert (
        remove_system_references(system, "user", "eve")
        == remove_system_references(system, "lab-controller", "bob")
        == []
    )
