"""Changes of a system's access policy, and removed users and groups."""

from __future__ import annotations

from dataclasses import replace

import pytest

from domain.access.policy import Policy, PolicyEntry, policy_form
from domain.errors import Refused
from domain.system.state import Loan
from domain.system_admin.policy import change_policy, leave_pool, remove_system_references
from tests.domain.recipe.samples import system_in

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
    *_, (_, changed) = decided = remove_system_references(system, "user", "bob")
    assert [event.TOPIC for _, event in decided] == ["system.loan-ended", "system.access-policy-changed"]
    left = (*OPEN, PolicyEntry("reserve", group="bob"))
    assert (changed.entries, changed.active_pool) == (policy_form(left), "big")  # type: ignore[attr-defined]
    assert (
        remove_system_references(system, "user", "eve")
        == remove_system_references(system, "lab-controller", "bob")
        == []
    )
