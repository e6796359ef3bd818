"""Loans: reservation by the borrower in any condition, and the end of a loan."""

from __future__ import annotations

from dataclasses import replace

import pytest

from domain.errors import Refused
from domain.events import Decided
from domain.system.events import SystemLoaned
from domain.system.state import Loan, Reservation, System
from domain.system_admin.condition import change_condition
from domain.system_admin.loan import end_loan, give_back, lend
from domain.system_admin.reservation import reserve
from tests.domain.recipe.samples import system_in
from tests.domain.system_admin.moving import after

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
