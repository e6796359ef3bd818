"""Who holds which permission: by the entries that count, or because it is theirs."""

from __future__ import annotations

import pytest

from domain.access.people import OF_PEOPLE, Access, Person, is_open_to_all, may
from domain.access.policy import UNTIL_GIVEN, Policy, PolicyEntry

ALL = {"view", "edit_policy", "edit_system", "loan_any", "loan_self", "control_system", "reserve"}
POLICY: Policy = (
    PolicyEntry("view", group="qa"),
    PolicyEntry("edit_system", "bob"),
    PolicyEntry("loan_self", group="qa"),
    # To submit is no part of this, and shows nothing.
    PolicyEntry("submit", "eve"),
)
LENT = Access(POLICY, owner="ada", borrower="lea", reserved_by="rob")

# who, on which system, what they may do there
HELD: list[tuple[Person, Access, set[str]]] = [
    (Person("ada"), LENT, ALL),
    # An admin needs a reason to have one.
    (Person("root", is_admin=True), LENT, ALL - {"reserve"}),
    (Person("ada", is_admin=True), LENT, ALL),
    (Person("root", is_admin=True), Access((PolicyEntry("reserve"),)), ALL),
    (Person("lea"), LENT, {"view", "reserve"}),
    (Person("rob"), LENT, {"view"}),
    # Who may do something there must see it.
    (Person("bob"), LENT, {"view", "edit_system"}),
    (Person("bob", {"qa", "ops"}), LENT, {"view", "edit_system", "loan_self"}),
    (Person("kim", {"ops"}), LENT, set()),
    (Person("eve"), LENT, set()),
    (Person("kim"), Access(UNTIL_GIVEN), {"view", "reserve"}),
    # Nobody bears the name of who owned it.
    (Person("ada"), Access(()), set()),
    # A group is no user of the same name.
    (Person("qa"), LENT, set()),
    (Person("kim", {"bob", "ada"}), LENT, set()),
]


@pytest.mark.parametrize(("person", "access", "held"), HELD)
def test_permissions__of_a_person_on_a_system__are_these(
    person: Person, access: Access, held: set[str]
) -> None:
    assert {permission for permission in OF_PEOPLE if may(person, access, permission)} == held


@pytest.mark.parametrize(
    ("policy", "is_open"),
    [
        (UNTIL_GIVEN, True),
        ((PolicyEntry("reserve"),), True),
        ((PolicyEntry("submit"),), False),
        ((PolicyEntry("view", "bob"), PolicyEntry("view", group="qa")), False),
        ((), False),
    ],
)
def test_policy__that_everybody_may_view_something_by__is_open(policy: Policy, is_open: bool) -> None:
    assert is_open_to_all(policy) == is_open
