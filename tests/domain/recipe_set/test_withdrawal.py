"""Sets that have not started and lose one system, or release all of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from domain.recipe.events import RecipeAssigned, RecipeQueued
from domain.recipe_set.withdrawal import let_go, withdraw
from domain.system.events import SystemIdle, SystemPending
from tests.domain.recipe_set.samples import guest_of, set_of

WHY = "a is Broken: fan"
ASSIGNED, QUEUED = RecipeAssigned(lab_controller="lab-1", reason=WHY), RecipeQueued(reason=WHY)


def test_withdraw__set_holds_another_system__stays_in_its_lab() -> None:
    members = set_of("scheduled", "assigned", "scheduled")
    assert withdraw(members, members.recipes[0], WHY) == [("recipe/1", ASSIGNED)]


def test_withdraw__it_was_the_last_system__the_whole_set_is_queued() -> None:
    members = set_of("scheduled", "assigned")
    assert withdraw(members, members.recipes[0], WHY) == [("recipe/1", QUEUED), ("recipe/2", QUEUED)]


@pytest.mark.parametrize(("states", "event"), [(["scheduled"], ASSIGNED), ([], QUEUED)])
def test_withdraw__host_with_a_guest__the_guest_goes_with_it(states: list[str], event: object) -> None:
    members = set_of("scheduled", *states)
    host = members.recipes[0]
    members = replace(members, recipes=(*members.recipes, guest_of(host, 9)))
    assert withdraw(members, host, WHY) == [("recipe/1", event), ("recipe/9", event)]


def test_let_go__holder__every_recipe_is_queued_and_every_system_free() -> None:
    assert let_go(set_of("scheduled", "assigned", "scheduled"), WHY) == [
        ("recipe/1", QUEUED),
        ("recipe/2", QUEUED),
        ("recipe/3", QUEUED),
        ("system/a", SystemPending()),
        ("system/c", SystemPending()),
    ]


def test_let_go__holder_of_a_forced_system_that_is_manual__leaves_it_idle() -> None:
    assert let_go(set_of("scheduled", "assigned", condition="Manual"), WHY)[-1] == ("system/a", SystemIdle())
