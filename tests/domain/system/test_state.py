"""A system folded from its events."""

from __future__ import annotations

import pytest

from domain.events import Event
from domain.system import events as happened
from domain.system.state import evolve
from tests.domain.recipe.made import moment, system_in

USAGES = [
    (happened.SystemIdle(), "idle", None),
    (happened.SystemPending(), "pending", None),
    (happened.SystemScheduled(recipe_id=4), "scheduled", 4),
    (happened.SystemWaiting(recipe_id=4), "waiting", 4),
    (happened.SystemInstalling(recipe_id=4), "installing", 4),
    (happened.SystemRunning(recipe_id=4), "running", 4),
]


def test_registered__first_event__is_idle_since_then() -> None:
    event = happened.SystemRegistered(
        lab_controller="lab-1", owner="ada", condition="Manual", inventory={"memory_mb": 1024}
    )
    system = evolve(None, "a", event, moment(position=12))
    assert (system.subject, system.usage, system.since, system.version) == ("system/a", "idle", 12, 1)
    assert (system.condition, system.owner, system.inventory) == ("Manual", "ada", {"memory_mb": 1024})


@pytest.mark.parametrize(("event", "usage", "recipe_id"), USAGES, ids=[row[1] for row in USAGES])
def test_usage__any_event__tells_recipe_and_position(event: Event, usage: str, recipe_id: int | None) -> None:
    system = evolve(system_in("running"), "a", event, moment(8, 30))
    assert (system.usage, system.recipe_id, system.since, system.version) == (usage, recipe_id, 30, 8)


def test_usage__changes__condition_and_inventory_stay() -> None:
    before = system_in("running", "Manual")
    after = evolve(before, "a", happened.SystemIdle(), moment(8, 30))
    assert (after.condition, after.inventory) == (before.condition, before.inventory)


def test_evolve__events_before_registration__is_a_fault_of_the_log() -> None:
    with pytest.raises(AssertionError, match="before it was registered"):
        evolve(None, "a", happened.SystemIdle(), moment())
