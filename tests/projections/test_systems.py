"""Tests of systems: document, usage and idle pool."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from domain.directory.events import (
    LabControllerDisabled,
    LabControllerEnabled,
    PoolRegistered,
    PoolSystemAdded,
)
from domain.events import Event
from domain.system import events as system_events
from projections.filters import ANY_SYSTEM
from tests.projections.happened import lab, of, registered
from tests.projections.projected_log import ProjectedLog

UNTIL = datetime(2026, 2, 1, tzinfo=UTC)
RESERVED = system_events.SystemReservationBegun("bob", "2026-02-01T00:00:00Z", 7)
ENTRIES = [{"permission": "reserve", "user": "bob"}]


@pytest.fixture
def idle(models: ProjectedLog) -> ProjectedLog:
    """Add system `a`, Automated and idle, in an enabled lab."""
    models.commit(lab(), registered("a"))
    return models


SHOWN: list[tuple[Event, dict[str, object]]] = [
    (system_events.SystemConditionChanged("Broken", "it burns"), {"condition": "Broken"}),
    (system_events.SystemInventoryChanged({"memory_mb": 2048}), {"inventory": {"memory_mb": 2048}}),
    (system_events.SystemOwnerChanged("bob"), {"owner": "bob"}),
    (system_events.SystemLabControllerChanged("lab-2"), {"lab_controller": "lab-2"}),
    (system_events.SystemDrained("moving"), {"draining": True}),
    (RESERVED, {"reserved_by": "bob", "reserved_until": UNTIL, "reserved_distro_tree_id": 7}),
    # Without an end.
    (system_events.SystemReservationBegun("bob", None, None), {"reserved_by": "bob", "reserved_until": None}),
    (system_events.SystemLoaned("bob", "2026-02-01T00:00:00Z"), {"loaned_to": "bob", "loaned_until": UNTIL}),
    (system_events.SystemLoaned("bob", None), {"loaned_to": "bob", "loaned_until": None}),
    # Shown by its own query.
    (system_events.SystemAccessPolicyChanged(ENTRIES, "big"), {}),
    (system_events.SystemRunning(None), {"usage": "running", "recipe_id": None}),
    (system_events.SystemScheduled(3), {"usage": "scheduled", "recipe_id": 3}),
]


@pytest.mark.parametrize(("event", "changed"), SHOWN)
def test_system__event__changes_this_and_nothing_else(
    idle: ProjectedLog, event: Event, changed: dict[str, object]
) -> None:
    before = idle.system("a")
    idle.commit(lab("lab-2"), *of("system", "a", event))
    assert idle.system("a") == {**before, "version": 2, **changed}


def test_system__undrained_and_returned__as_before(idle: ProjectedLog) -> None:
    before = idle.system("a")
    ended = system_events.SystemReservationEnded("returned")
    drained, undrained = system_events.SystemDrained("moving"), system_events.SystemUndrained()
    loaned, over = system_events.SystemLoaned("bob", None), system_events.SystemLoanEnded("over")
    idle.commit(*of("system", "a", drained, RESERVED, loaned, ended, over, undrained))
    assert idle.system("a") == {**before, "version": 7}


def test_access__changed_between_others__as_of_each_position(idle: ProjectedLog) -> None:
    """A new projector has only the stored rows."""
    first = system_events.SystemAccessPolicyChanged(ENTRIES, None)
    (*_, at) = idle.commit(*of("system", "a", first, system_events.SystemLoaned("bob", None)))
    idle.begin_again()
    idle.commit(*of("system", "a", system_events.SystemOwnerChanged("eve")))
    then = idle.row("access_to_system", fqdn="a", at=at)
    assert then == idle.row("access_to_system", fqdn="a") == {"access_policy": ENTRIES, "active_pool": None}
    assert idle.system("a")["loaned_to"] == "bob"
    idle.commit(*of("system", "a", system_events.SystemAccessPolicyChanged([], "big")))
    now = {"access_policy": [], "active_pool": "big"}
    assert idle.row("access_to_system", fqdn="a") == now != idle.row("access_to_system", fqdn="a", at=at)


def test_systems__hidden__are_in_no_list(idle: ProjectedLog) -> None:
    idle.commit(registered("b"), *of("system", "b", system_events.SystemIdle()))
    shown = {"after": "", "limit": 10, "hidden": ["a"]}
    assert [row["fqdn"] for row in idle.rows("systems", **{**ANY_SYSTEM, **shown})] == ["b"]
    assert [row["fqdn"] for row in idle.rows("idle_pool", **shown)] == ["b"]


def test_system__asked_as_of_an_earlier_commit__document_and_version_of_then(idle: ProjectedLog) -> None:
    (*_, at) = idle.commit(*of("system", "a", system_events.SystemPending()))
    idle.commit(*of("system", "a", system_events.SystemIdle(), system_events.SystemDrained("moving")))
    row = idle.system("a", at=at)
    assert (row["usage"], row["draining"], row["version"]) == ("pending", False, 2)


def test_usage__condition_or_usage_changes__an_entry_each(idle: ProjectedLog) -> None:
    """Other events add no entry."""
    idle.commit(
        *of(
            "system",
            "a",
            system_events.SystemScheduled(3),
            system_events.SystemConditionChanged("Manual", "wanted"),
            system_events.SystemOwnerChanged("bob"),
            system_events.SystemIdle(),
            system_events.SystemConditionChanged("Removed", "old"),
        )
    )
    entries = idle.rows("usage_of_system", fqdn="a", since=None, until=None)
    assert [(row["condition"], row["usage"], row["recipe_id"]) for row in entries] == [
        ("Automated", "idle", None),
        ("Automated", "scheduled", 3),
        ("Manual", "scheduled", 3),
        ("Manual", "idle", None),
        ("Removed", "idle", None),
    ]


LEAVING: list[Event] = [
    system_events.SystemConditionChanged("Manual", "wanted"),
    system_events.SystemDrained("moving"),
    system_events.SystemPending(),
    system_events.SystemReservationBegun("bob", None, None),
]


@pytest.mark.parametrize("event", LEAVING)
def test_idle_pool__system_not_available__leaves_the_pool(idle: ProjectedLog, event: Event) -> None:
    (at,) = idle.commit(*of("system", "a", event))
    assert idle.idle() == {}
    assert idle.idle(at=at - 1) == {"a": "lab-1"}


def test_idle_pool__lab_disabled_and_enabled__all_its_idle_systems_at_once(idle: ProjectedLog) -> None:
    idle.commit(
        registered("b"), registered("c", "Manual"), lab("lab-2"), registered("d", lab_controller="lab-2")
    )
    idle.commit(*of("lab-controller", "lab-1", LabControllerDisabled()))
    assert idle.idle() == {"d": "lab-2"}
    idle.commit(*of("lab-controller", "lab-1", LabControllerEnabled()))
    assert idle.idle() == {"a": "lab-1", "b": "lab-1", "d": "lab-2"}


def test_idle_pool__system_moves_to_another_lab__follows_that_lab(idle: ProjectedLog) -> None:
    idle.commit(lab("lab-2"), lab("lab-3", enabled=False))
    idle.commit(*of("system", "a", system_events.SystemLabControllerChanged("lab-2")))
    assert idle.idle() == {"a": "lab-2"}
    idle.commit(*of("system", "a", system_events.SystemLabControllerChanged("lab-3")))
    assert idle.idle() == {}


def test_pool__system_added__shows_at_both(idle: ProjectedLog) -> None:
    idle.commit(*of("pool", "big", PoolRegistered(None), PoolSystemAdded("a")))
    assert idle.system("a")["pools"] == ["big"]
    # The version of the pool has changed, too.
    assert idle.row("document", kind="pool", name="big")["version"] == 2
