"""A system folded from its events."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from domain.access.policy import PolicyEntry
from domain.events import Event
from domain.system import events as system_events
from domain.system.state import Loan, Reservation, evolve
from tests.domain.recipe.samples import moment, system_in

USAGES = [
    (system_events.SystemIdle(), "idle", None),
    (system_events.SystemPending(), "pending", None),
    (system_events.SystemScheduled(recipe_id=4), "scheduled", 4),
    (system_events.SystemWaiting(recipe_id=4), "waiting", 4),
    (system_events.SystemInstalling(recipe_id=4), "installing", 4),
    (system_events.SystemRunning(recipe_id=4), "running", 4),
    # Reserved by a person.
    (system_events.SystemWaiting(recipe_id=None), "waiting", None),
    (system_events.SystemInstalling(recipe_id=None), "installing", None),
    (system_events.SystemRunning(recipe_id=None), "running", None),
]


def test_registered__first_event__is_idle_since_then() -> None:
    event = system_events.SystemRegistered(
        lab_controller="lab-1", owner="ada", condition="Manual", inventory={"memory_mb": 1024}
    )
    system = evolve(None, "a", event, moment(position=12))
    assert (system.subject, system.usage, system.since, system.version) == ("system/a", "idle", 12, 1)
    assert (system.condition, system.owner, system.inventory) == ("Manual", "ada", {"memory_mb": 1024})


@pytest.mark.parametrize(
    ("event", "usage", "recipe_id"), USAGES, ids=[f"{row[1]}-{row[2]}" for row in USAGES]
)
def test_usage__any_event__sets_recipe_and_position(event: Event, usage: str, recipe_id: int | None) -> None:
    system = evolve(system_in("running"), "a", event, moment(8, 30))
    assert (system.usage, system.recipe_id, system.since, system.version) == (usage, recipe_id, 30, 8)


def test_usage__changes__condition_and_inventory_stay() -> None:
    before = system_in("running", "Manual")
    after = evolve(before, "a", system_events.SystemIdle(), moment(8, 30))
    assert (after.condition, after.inventory) == (before.condition, before.inventory)


CHANGES: list[tuple[Event, dict[str, object]]] = [
    (system_events.SystemConditionChanged(condition="Broken", reason="fan"), {"condition": "Broken"}),
    (system_events.SystemInventoryChanged(inventory={"memory_mb": 1}), {"inventory": {"memory_mb": 1}}),
    (system_events.SystemLabControllerChanged(lab_controller="lab-2"), {"lab_controller": "lab-2"}),
    (system_events.SystemOwnerChanged(owner="eve"), {"owner": "eve", "owned_since": 30}),
    (system_events.SystemDrained(reason="new disks"), {"draining": True}),
    (system_events.SystemUndrained(), {"draining": False}),
    (
        system_events.SystemReservationBegun(user="eve", until="2024-01-02T00:00:00Z", distro_tree_id=4),
        {"reservation": Reservation("eve", datetime(2024, 1, 2, tzinfo=UTC), 4)},
    ),
    (
        system_events.SystemReservationBegun(user="eve", until=None, distro_tree_id=None),
        {"reservation": Reservation("eve", None, None)},
    ),
    (system_events.SystemReservationEnded(reason="returned"), {"reservation": None}),
    (
        system_events.SystemLoaned(user="eve", until="2024-01-02T00:00:00Z"),
        {"loan": Loan("eve", datetime(2024, 1, 2, tzinfo=UTC))},
    ),
    (system_events.SystemLoaned(user="eve", until=None), {"loan": Loan("eve", None)}),
    (system_events.SystemLoanEnded(reason="given back"), {"loan": None}),
    (
        system_events.SystemAccessPolicyChanged(
            entries=[{"permission": "view", "everybody": True}], active_pool="big"
        ),
        {"access_policy": (PolicyEntry("view"),), "active_pool": "big"},
    ),
]


@pytest.mark.parametrize(("event", "changed"), CHANGES, ids=lambda value: getattr(value, "TOPIC", ""))
def test_change__event_without_usage__keeps_usage(event: Event, changed: dict[str, object]) -> None:
    held = Reservation("ada", None, None)
    lent = Loan("ada", None)
    before = replace(system_in("running"), draining=event != CHANGES[4][0], reservation=held, loan=lent)
    after = evolve(before, "a", event, moment(8, 30))
    assert after == replace(before, version=8, **changed)  # type: ignore[arg-type]


def test_evolve__events_before_registration__is_a_fault_of_the_log() -> None:
    with pytest.raises(AssertionError, match="before it was registered"):
        evolve(None, "a", system_events.SystemIdle(), moment())
