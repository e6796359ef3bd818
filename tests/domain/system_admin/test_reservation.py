"""Reservations and loans of systems."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from domain.errors import Refused
from domain.events import Decided, Event
from domain.system.events import (
    SystemIdle,
    SystemInstalling,
    SystemLoaned,
    SystemPending,
    SystemReservationBegun,
    SystemReservationEnded,
    SystemRunning,
    SystemWaiting,
)
from domain.system.lifecycle import USAGE, WITH_RECIPE
from domain.system.state import Loan, Reservation, System, evolve
from domain.system_admin.condition import change_condition
from domain.system_admin.loan import end_loan, give_back, lend
from domain.system_admin.reservation import end, provisioning, require_lab, reserve
from tests.domain.recipe.samples import moment, system_in
from tests.domain.scheduling.world import World


def after(system: System, decided: Decided) -> System:
    """Return the system after the events, whose usages must follow the table of transitions."""
    for _, event in decided:
        before, system = system, evolve(system, "a", event, moment(system.version + 1))
        if hasattr(event, "USAGE"):
            USAGE.require(system.subject, before.usage, system.usage)
    return system


UNTIL = "2024-01-02T00:00:00Z"
WAITING, INSTALLING, RUNNING = (
    SystemWaiting(recipe_id=None),
    SystemInstalling(recipe_id=None),
    SystemRunning(recipe_id=None),
)


def reserved(tree: int | None = None, condition: str = "Manual") -> System:
    system = after(system_in("idle", "Manual"), reserve(system_in("idle", "Manual"), "ada", UNTIL, tree))
    return replace(system, condition=condition)


def test_reserve__free_manual_system__runs_for_that_person() -> None:
    decided = reserve(system_in("idle", "Manual"), "ada", UNTIL, None)
    begun = SystemReservationBegun(user="ada", until=UNTIL, distro_tree_id=None)
    assert decided == [("system/a", begun), ("system/a", RUNNING)]
    reservation = reserved().reservation
    assert reservation is not None
    assert (reservation.user, reservation.until) == ("ada", datetime(2024, 1, 2, tzinfo=UTC))


def test_reserve__with_a_distro_tree__waits_to_be_provisioned() -> None:
    assert reserve(system_in("idle", "Manual"), "ada", None, 4)[1] == ("system/a", WAITING)


LAB_REFUSES = [
    # The lab, the architecture of the tree and of the system; with a tree or without.
    (False, "x86_64", ["x86_64"], None, "system a is in a disabled lab: lab-1"),
    (False, "x86_64", ["x86_64"], 1, "system a is in a disabled lab: lab-1"),
    (True, "aarch64", ["x86_64", "i386"], 1, "distro tree 1 is for aarch64, but system a has x86_64, i386"),
    (True, "aarch64", ["x86_64"], None, None),
    (True, "x86_64", ["x86_64"], 1, None),
    (True, "x86_64", None, 1, None),
    (True, "x86_64", ["x86_64"], 2, "distro tree 2 is not available in the lab of lab-1"),
]


@pytest.mark.parametrize(("enabled", "arch", "arches", "tree", "why"), LAB_REFUSES)
def test_require_lab__disabled_or_without_such_a_tree__is_refused_with_the_reason(
    enabled: bool, arch: str, arches: list[str] | None, tree: int | None, why: str | None
) -> None:
    world = World()
    world.add_lab("lab-1", enabled)
    world.put_tree(1, arch, ["lab-1"])
    world.put_tree(2, arch, [])
    system = replace(system_in("idle", "Manual"), inventory={"arches": arches})
    with pytest.raises(Refused, match=why) if why else nullcontext():
        require_lab(system, tree, world.directory)


REFUSED = [
    (reserved(), "system a is reserved by ada"),
    (system_in("running", "Manual"), "system a is running with recipe 1"),
    (
        system_in("idle", "Automated"),
        "system a is Automated; a person can reserve only a Manual system, or one on loan",
    ),
    (replace(system_in("idle", "Manual"), draining=True), "system a is draining"),
    (system_in("idle", "Broken"), "system a is Broken; a person can reserve only a Manual system"),
]


@pytest.mark.parametrize(("system", "why"), REFUSED)
def test_reserve__system_unavailable__refused_with_reason(system: System, why: str) -> None:
    with pytest.raises(Refused, match=why):
        reserve(system, "eve", None, None)


# Usage, report of the lab controller, events.
STEPS: list[tuple[str, str, list[Event]]] = [
    ("waiting", "running", [INSTALLING]),
    # The report of the start was lost.
    ("waiting", "completed", [INSTALLING, RUNNING]),
    ("installing", "completed", [RUNNING]),
    # A repeated report.
    ("installing", "running", []),
    ("running", "completed", []),
    ("running", "running", []),
    ("running", "failed", []),
]


@pytest.mark.parametrize(("usage", "said", "then"), STEPS)
def test_provisioning__any_report__expected_events(usage: str, said: str, then: list[Event]) -> None:
    system = replace(reserved(4), usage=usage)
    decided = provisioning(system, said, "")
    assert [event for _, event in decided] == then
    after(system, decided)


@pytest.mark.parametrize("usage", ["waiting", "installing"])
def test_provisioning__failed__ends_the_reservation_with_the_reason(usage: str) -> None:
    decided = provisioning(replace(reserved(4), usage=usage), "failed", "no DHCP")
    ended = SystemReservationEnded(reason="it could not be provisioned: no DHCP")
    assert decided == [("system/a", ended), ("system/a", SystemIdle())]


@pytest.mark.parametrize("said", ["running", "completed", "failed"])
@pytest.mark.parametrize("usage", ["idle", *WITH_RECIPE])
def test_provisioning__reservation_has_ended_meanwhile__changes_nothing(usage: str, said: str) -> None:
    assert provisioning(system_in(usage), said, "late") == []


# The event of the returned system, by its condition.
RETURNED = [("Manual", SystemIdle()), ("Broken", SystemIdle()), ("Automated", SystemPending())]


@pytest.mark.parametrize(("condition", "then"), RETURNED)
@pytest.mark.parametrize("tree", [None, 4])
def test_end__returned__pending_or_idle_by_condition(condition: str, then: Event, tree: int | None) -> None:
    system = reserved(tree, condition)
    decided = end(system, "returned")
    assert decided == [("system/a", SystemReservationEnded(reason="returned")), ("system/a", then)]
    assert after(system, decided).reservation is None


def test_end__no_reservation__changes_nothing() -> None:
    assert end(system_in("idle"), "returned") == []


BOBS = Loan("bob", None)


def lent(condition: str, usage: str = "idle", **more: object) -> System:
    return replace(system_in(usage, condition), loan=BOBS, **more)  # type: ignore[arg-type]


def topics(decided: Decided) -> list[str]:
    return [event.TOPIC for _, event in decided]


def test_lend__to_a_person__any_usage() -> None:
    for usage in ("idle", "running"):
        decided = lend(system_in(usage, "Automated"), BOBS, None)
        assert decided == [("system/a", SystemLoaned(user="bob", until=None))]
    assert lend(lent("Automated"), BOBS, None) == []


@pytest.mark.parametrize(
    ("condition", "usage", "user", "refused"),
    [
        ("Automated", "idle", "bob", None),
        ("Manual", "idle", "bob", None),
        # The borrower may repair the system.
        ("Broken", "idle", "bob", None),
        ("Removed", "idle", "bob", "is Removed"),
        # The queue is asked first; a recipe continues.
        ("Automated", "pending", "bob", "is pending"),
        ("Automated", "idle", "eve", "on loan to bob"),
        ("Manual", "idle", "eve", "on loan to bob"),
    ],
)
def test_reserve__system_on_loan__only_by_its_borrower(
    condition: str, usage: str, user: str, refused: str | None
) -> None:
    system = lent(condition, usage)
    if refused is not None:
        with pytest.raises(Refused, match=refused):
            reserve(system, user, None, None)
    else:
        reserved = after(system, reserve(system, user, None, None))
        assert (reserved.usage, reserved.condition) == ("running", condition)


@pytest.mark.parametrize(
    ("condition", "reserved_by", "ends"),
    [
        ("Automated", "bob", ["system.loan-ended", "system.reservation-ended", "system.pending"]),
        ("Broken", "bob", ["system.loan-ended", "system.reservation-ended", "system.idle"]),
        # A Manual system can be reserved without a loan.
        ("Manual", "bob", ["system.loan-ended"]),
        # Reserved before the loan.
        ("Automated", "eve", ["system.loan-ended"]),
        ("Automated", None, ["system.loan-ended"]),
    ],
)
def test_end_loan__reserved_system__ends_reservation_that_it_allowed(
    condition: str, reserved_by: str | None, ends: list[str]
) -> None:
    reservation = None if reserved_by is None else Reservation(reserved_by, None, None)
    usage = "idle" if reserved_by is None else "running"
    system = lent(condition, usage, reservation=reservation, recipe_id=None)
    assert topics(end_loan(system, "over")) == ends
    assert end_loan(replace(system, loan=None), "over") == []


def test_give_back__removed_user__loses_loan_and_reservation() -> None:
    both = lent("Manual", "running", reservation=Reservation("bob", None, None), recipe_id=None)
    assert topics(give_back(both, "bob", "gone")) == [
        *("system.loan-ended", "system.reservation-ended", "system.idle")
    ]
    assert give_back(both, "eve", "gone") == []


def test_condition__removed__ends_the_loan() -> None:
    assert topics(change_condition(lent("Automated"), None, "Removed", "sold")) == [
        *("system.condition-changed", "system.loan-ended")
    ]
