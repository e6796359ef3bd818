"""Systems: states, usage and differences between two versions."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.access.policy import PolicyEntry
from domain.events import Event
from domain.scheduling.bitsets.bitmaps import numbers_in
from domain.scheduling.supply.availability import Availability
from domain.scheduling.supply.labs import Labs
from domain.system import events as system_events
from domain.system.differences import PropertyDifference, differences
from domain.system.events import SystemIdle, SystemPending
from domain.system.lifecycle import CONDITIONS, USAGE
from domain.system.state import Loan, Reservation, System, evolve
from domain.system.usage import freed, in_idle_pool, is_open, is_usable
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
    (system_events.SystemDrained(reason="new disks"), {"draining": True, "drained_by_person": True}),
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


def system(condition: str, draining: bool = False, reserved: bool = False, usage: str = "idle") -> System:
    reservation = Reservation("ada", None, None) if reserved else None
    return replace(system_in(usage, condition), draining=draining, reservation=reservation)


EVERY = list(product(CONDITIONS, (False, True), (False, True), (False, True)))


@pytest.mark.parametrize(("condition", "draining", "reserved", "lab_enabled"), EVERY)
def test_usable__any_system__only_without_an_obstacle(
    condition: str, draining: bool, reserved: bool, lab_enabled: bool
) -> None:
    one = system(condition, draining, reserved)
    to_be_had = lab_enabled and not draining and not reserved
    assert is_open(one, lab_enabled) == (to_be_had and condition != "Removed")
    assert is_usable(one, lab_enabled) == (to_be_had and condition == "Automated")
    assert in_idle_pool(one, lab_enabled) == is_usable(one, lab_enabled)
    assert not in_idle_pool(replace(one, usage="running"), lab_enabled)


@pytest.mark.parametrize("draining", [False, True])
@pytest.mark.parametrize("condition", CONDITIONS)
def test_freed__any_system__pending_if_recipes_may_have_it(condition: str, draining: bool) -> None:
    asked = condition == "Automated" and not draining
    assert freed(system(condition, draining)) == ("system/a", SystemPending() if asked else SystemIdle())


labs = st.sampled_from(("lab-1", "lab-2"))
some_system = st.builds(
    lambda condition, draining, reserved, usage, lab, fqdn: replace(
        system(condition, draining, reserved, usage), fqdn=fqdn, lab_controller=lab
    ),
    st.sampled_from(CONDITIONS),
    st.booleans(),
    st.booleans(),
    st.sampled_from(USAGE.states),
    labs,
    st.sampled_from("abcd"),
)


@given(st.lists(st.one_of(some_system, st.tuples(labs, st.booleans())), max_size=30))
def test_availability__any_changes__equals_state_of_each_system(
    changes: list[System | tuple[str, bool]],
) -> None:
    lab = Labs()
    available = Availability(lab)
    systems: dict[str, System] = {}
    enabled: dict[str, bool] = {}
    for change in changes:
        if isinstance(change, System):
            systems[change.fqdn] = change
            lab.put(change, ())
            available.put(change)
        else:
            enabled[change[0]] = change[1]
            available.serve(*change)
        for forced, may_have in ((False, is_usable), (True, is_open)):
            usable = {
                n for n, each in systems.items() if may_have(each, enabled.get(each.lab_controller, False))
            }
            idle = {fqdn for fqdn in usable if systems[fqdn].usage == "idle"}
            assert {lab.names[number] for number in numbers_in(available.usable(forced=forced))} == usable
            assert {lab.names[number] for number in numbers_in(available.idle(forced=forced))} == idle


# Before, after, and the differences.
ROWS: list[tuple[dict[str, Any], dict[str, Any], list[tuple[str, Any, Any]]]] = [
    ({}, {}, []),
    # Missing and null are both unknown.
    ({"vendor": None}, {}, []),
    ({"b": 1, "a": 1}, {"a": 2, "c": 3}, [("a", 1, 2), ("b", 1, None), ("c", None, 3)]),
    # The properties of an object are separate; a list is one property.
    ({"cpu": {"cores": 1, "hyper": True}}, {"cpu": {"cores": 2, "hyper": True}}, [("cpu.cores", 1, 2)]),
    ({"key_values": {"HVM": ["1"]}}, {}, [("key_values.HVM", ["1"], None)]),
    ({"disks": [{"model": "D"}]}, {"disks": []}, [("disks", [{"model": "D"}], [])]),
    # An object that was unknown before.
    ({"cpu": None}, {"cpu": {"cores": 2}}, [("cpu.cores", None, 2)]),
]


@pytest.mark.parametrize(("before", "after", "expected"), ROWS)
def test_differences__two_documents__each_property_once_by_name(
    before: dict[str, Any], after: dict[str, Any], expected: list[tuple[str, Any, Any]]
) -> None:
    assert differences(before, after) == [PropertyDifference(*one) for one in expected]
