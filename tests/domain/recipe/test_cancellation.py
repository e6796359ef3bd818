from __future__ import annotations

import pytest

from domain.recipe.cancellation import cancel
from domain.recipe.events import RecipeCancelled
from domain.recipe.lifecycle import FINISHED, PLACED, UNPLACED
from domain.system.events import SystemIdle, SystemPending
from tests.domain.recipe.made import recipe_in, system_in

CANCELLED = ("recipe/1", RecipeCancelled(reason="not needed"))


@pytest.mark.parametrize("state", UNPLACED)
def test_cancel__recipe_without_a_system__ends_it_alone(state: str) -> None:
    assert cancel(recipe_in(state), None, "not needed") == [CANCELLED]


@pytest.mark.parametrize("state", PLACED)
def test_cancel__recipe_on_a_system__gives_the_system_back(state: str) -> None:
    usage = "running" if state == "reserved" else state
    decided = cancel(recipe_in(state), system_in(usage), "not needed")
    assert decided == [CANCELLED, ("system/a", SystemPending())]


def test_cancel__recipe_on_a_broken_system__leaves_it_idle() -> None:
    decided = cancel(recipe_in("running"), system_in("running", "Broken"), "not needed")
    assert decided == [CANCELLED, ("system/a", SystemIdle())]


@pytest.mark.parametrize("state", FINISHED)
def test_cancel__finished_recipe__changes_nothing(state: str) -> None:
    assert cancel(recipe_in(state), system_in("running"), "not needed") == []
