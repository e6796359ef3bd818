"""Removal of the systems of a lab: their recipes are aborted, and each set is ended only once."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from domain.events import Decided
from domain.read_set import ReadSet
from domain.recipe.events import RecipeAborted
from domain.system.events import (
    SystemConditionChanged,
    SystemIdle,
    SystemLoanEnded,
    SystemReservationEnded,
    SystemVacated,
)
from domain.system.state import Loan, Occupation, Reservation
from domain.system_admin.lab_removal import remove_systems
from tests.domain.recipe.samples import system_in
from tests.domain.recipe_set.read_sets import read_set
from tests.domain.recipe_set.samples import set_of

WHY = "lab controller lab-1 is removed"


def removed(gathered: ReadSet) -> tuple[Decided, ReadSet]:
    fqdns = [subject.partition("/")[2] for subject in gathered.states if subject.startswith("system/")]
    decided = remove_systems(gathered, fqdns, WHY)
    return decided, gathered.after(decided)


@pytest.mark.parametrize("states", [("scheduled", "scheduled"), ("running", "installing"), ("waiting",)])
def test_systems__with_recipes_of_one_set__are_removed_and_each_recipe_ends_once(
    states: tuple[str, ...],
) -> None:
    members = set_of(*states)
    decided, after = removed(read_set(members))
    aborted = [(subject, event.reason) for subject, event in decided if isinstance(event, RecipeAborted)]
    assert sorted(aborted) == [(recipe.subject, WHY) for recipe in members.recipes]
    assert max(Counter((subject, type(event)) for subject, event in decided).values()) == 1
    for fqdn in members.systems:
        system = after.system(fqdn)
        assert system is not None
        assert (system.condition, system.usage, system.recipe_id) == ("Removed", "idle", None)


def test_systems__removed_already__nothing_happens() -> None:
    _, after = removed(read_set(set_of("running")))
    assert removed(after)[0] == []


def test_system__occupied__is_vacated() -> None:
    occupied = replace(
        system_in("idle"), recipe_id=None, occupied=Occupation("recipe 7 runs there", 7, None, since=3)
    )
    decided, after = removed(ReadSet({occupied.subject: occupied}))
    assert [type(event) for _, event in decided] == [SystemConditionChanged, SystemVacated]
    assert (occupied.subject, SystemVacated(WHY)) in decided
    system = after.system(occupied.fqdn)
    assert system is not None and (system.usage, system.occupied) == ("idle", None)


def test_system__reserved_by_a_person_who_has_it_on_loan__both_end() -> None:
    reserved = replace(
        system_in("running", "Manual"),
        recipe_id=None,
        loan=Loan("ada", None),
        reservation=Reservation("ada", None, None),
    )
    decided, after = removed(ReadSet({reserved.subject: reserved}))
    assert [type(event) for _, event in decided] == [
        *(SystemConditionChanged, SystemLoanEnded, SystemReservationEnded, SystemIdle)
    ]
    system = after.system(reserved.fqdn)
    assert system is not None and (system.loan, system.reservation) == (None, None)
