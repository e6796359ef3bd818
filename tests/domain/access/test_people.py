"""Permissions of persons on systems: from policy entries, ownership, loans and reservations."""

from __future__ import annotations

import pytest

from domain.access.people import OF_PEOPLE, Access, Person, is_open_to_all, may
from domain.access.policy import INITIAL_POLICY, Policy, PolicyEntry

ALL = {"view", "edit_policy", "edit_system", "loan_any", "loan_self", "control_system", "reserve"}
POLICY: Policy = (
    PolicyEntry("view", group="qa"),
    PolicyEntry("edit_system", "bob"),
    PolicyEntry("loan_self", group="qa"),
    # `submit` is a separate permission, and does not imply view.
    PolicyEntry("submit", "eve"),
)
LENT = Access(POLICY, owner="ada", borrower="lea", reserved_by="rob")

# Person, access to a system, permissions there.
HELD: list[tuple[Person, Access, set[str]]] = [
    (Person("ada"), LENT, ALL),
    # An admin may use a system only as the policies allow.
    (Person("root", is_admin=True), LENT, ALL - {"reserve"}),
    (Person("ada", is_admin=True), LENT, ALL),
    (Person("root", is_admin=True), Access((PolicyEntry("reserve"),)), ALL),
    (Person("lea"), LENT, {"view", "reserve"}),
    (Person("rob"), LENT, {"view"}),
    # Every permission implies view.
    (Person("bob"), LENT, {"view", "edit_system"}),
    (Person("bob", {"qa", "ops"}), LENT, {"view", "edit_system", "loan_self"}),
    (Person("kim", {"ops"}), LENT, set()),
    (Person("eve"), LENT, set()),
    (Person("kim"), Access(INITIAL_POLICY), {"view", "reserve"}),
    # The former owner no longer exists.
    (Person("ada"), Access(()), set()),
    # A group with the name of a user.
    (Person("qa"), LENT, set()),
    (Person("kim", {"bob", "ada"}), LENT, set()),
]


@pytest.mark.parametrize(("person", "access", "held"), HELD)
def test_may__person_and_system__permissions_of_table(person: Person, access: Access, held: set[str]) -> None:
    assert {permission for permission in OF_PEOPLE if may(person, access, permission)} == held


@pytest.mark.parametrize(
    ("policy", "is_open"),
    [
        (INITIAL_POLICY, True),
        ((PolicyEntry("reserve"),), True),
        ((PolicyEntry("submit"),), False),
        ((PolicyEntry("view", "bob"), PolicyEntry("view", group="qa")), False),
        ((), False),
    ],
)
def test_is_open_to_all__policy__only_if_everybody_may_view(policy: Policy, is_open: bool) -> None:
    assert is_open_to_all(policy) == is_open
