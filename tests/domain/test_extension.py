"""Extensions of recipes, reservations and loans, and what bounds them."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from domain.errors import FaultyInput, Refused
from domain.extension import Extension, extend_recipe, extend_system
from domain.recipe.events import RecipeExtended
from domain.rfc3339 import rfc3339
from domain.system.events import SystemLoanExtended, SystemReservationExtended
from domain.system.state import Loan, Reservation, System
from tests.domain.recipe.samples import recipe_in

NOON = datetime(2024, 1, 1, 12, tzinfo=UTC)
END = NOON + timedelta(hours=1)
SYSTEM = System("a", 1, "lab", "owner", "Manual", {})


def wanted(seconds: int | None = None, until: datetime | None = None, **more: Any) -> Extension:
    defaults = {"reason": "debugging", "max_seconds": 7_200, "now": NOON}
    return Extension(**{"seconds": seconds, "until": until, **defaults, **more})


RECIPE = replace(recipe_in("running"), deadline=END, recorded_deadline=END)


@pytest.mark.parametrize(
    "extension", [wanted(seconds=7_200), wanted(until=END + timedelta(hours=2))], ids=["seconds", "until"]
)
def test_recipe__extended_to_the_maximum__gets_the_event(extension: Extension) -> None:
    expected = [(RECIPE.subject, RecipeExtended(seconds=7_200, reason="debugging"))]
    assert extend_recipe(RECIPE, extension) == expected


def test_recipe__extended_by_a_part_of_a_second__is_extended_by_one() -> None:
    ((_, event),) = extend_recipe(RECIPE, wanted(until=END + timedelta(milliseconds=300)))
    assert event == RecipeExtended(seconds=1, reason="debugging")


REFUSED = [
    (
        wanted(seconds=7_201),
        0,
        "seconds",
        "the maximum of the lab is 2h in all, of which 2h are left",
    ),
    (wanted(seconds=3_601), 3_600, "seconds", "of which 1h are left"),
    (wanted(until=END), 0, "until", "must be after the present end"),
    (wanted(until=END + timedelta(hours=3)), 0, "until", "the maximum of the lab"),
    (wanted(seconds=60, now=END + timedelta(hours=1)), 0, "seconds", "would end it in the past"),
    (wanted(seconds=1, max_seconds=0), 0, "seconds", "of which 0s are left"),
]


@pytest.mark.parametrize(("extension", "before", "where", "said"), REFUSED)
def test_extension__too_long_or_not_later__is_a_fault_of_its_field(
    extension: Extension, before: int, where: str, said: str
) -> None:
    reservation = Reservation("bob", END, None, extended_seconds=before)
    for extend in (
        lambda: extend_recipe(replace(RECIPE, extended_seconds=before), extension),
        lambda: extend_system(replace(SYSTEM, reservation=reservation), extension),
    ):
        with pytest.raises(FaultyInput) as refused:
            extend()
        (fault,) = refused.value.faults
        assert fault.where == where and said in fault.message


@pytest.mark.parametrize(
    ("recipe", "said"),
    [
        (replace(recipe_in("running"), state="completed"), "has ended: it is completed"),
        (recipe_in("queued", "new"), "is queued and has no deadline"),
    ],
)
def test_recipe__without_a_deadline__is_refused(recipe: Any, said: str) -> None:
    with pytest.raises(Refused, match=said):
        extend_recipe(recipe, wanted(seconds=60))


def test_system__reserved_and_on_loan__only_the_reservation_is_extended() -> None:
    lent = replace(SYSTEM, loan=Loan("bob", END))
    until = rfc3339(END + timedelta(minutes=1))
    for system, event in (
        (lent, SystemLoanExtended),
        (replace(lent, reservation=Reservation("bob", END, None)), SystemReservationExtended),
    ):
        decided = extend_system(system, wanted(seconds=60))
        assert decided == [("system/a", event(until=until, reason="debugging"))]


@pytest.mark.parametrize(
    ("system", "said"),
    [
        (SYSTEM, "neither reserved by a person nor on loan"),
        (replace(SYSTEM, loan=Loan("bob", None)), "the loan of system a has no end"),
        (
            replace(SYSTEM, reservation=Reservation("bob", None, None)),
            "the reservation of system a has no end",
        ),
    ],
)
def test_system__with_nothing_to_extend__is_refused(system: System, said: str) -> None:
    with pytest.raises(Refused, match=said):
        extend_system(system, wanted(seconds=60))
