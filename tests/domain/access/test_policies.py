"""Access policies: who may submit, for whom, and their validation."""

from __future__ import annotations

from typing import Any

import pytest

from domain.access.people import OF_PEOPLE, Access, Person, is_open_to_all, may
from domain.access.policy import INITIAL_POLICY, Policy, PolicyEntry, policy_form, policy_of
from domain.access.submit_rights import SubmitRights, Submitter, submit_rights
from domain.access.validation import faults_of, normalised, without
from domain.priority import Priority

DESIGNATED = {"permission": "submit", "group": "qe", "maximum_effective_priority": "Urgent"}
ALL_OTHERS = {"permission": "submit", "everybody": True, "maximum_effective_priority": "Medium"}
ALICE = {"permission": "submit", "user": "alice", "maximum_effective_priority": "High"}
POOL = policy_of([ALL_OTHERS, DESIGNATED])


def maximum(decides: SubmitRights, user: str | None = None, group: str | None = None) -> Priority | None:
    return decides.maximum(Submitter(user, group))


def test_maximum__of_the_entries_that_name_the_group_or_everybody__is_the_highest() -> None:
    decides = submit_rights(None, [POOL], "owner")
    assert maximum(decides, group="qe") is Priority.Urgent
    assert maximum(decides, group="another") is Priority.Medium
    assert maximum(decides) is Priority.Medium


def test_maximum__of_several_pools__is_the_highest() -> None:
    lower = policy_of([{**DESIGNATED, "maximum_effective_priority": "Low"}])
    assert maximum(submit_rights(None, [lower], "owner"), group="qe") is Priority.Low
    assert maximum(submit_rights(None, [lower, POOL], "owner"), group="qe") is Priority.Urgent


def test_maximum__entry_names_a_user__is_for_that_user_alone() -> None:
    decides = submit_rights(policy_of([ALICE]), [], "owner")
    assert maximum(decides, user="alice") is Priority.High
    assert maximum(decides, user="bob", group="alice") is None


def test_own_policy__some_pool_has_an_entry_to_submit__does_not_count() -> None:
    own = policy_of([ALICE])
    views = policy_of([{"permission": "view", "everybody": True}])
    assert maximum(submit_rights(own, [views], "owner"), user="alice") is Priority.High
    assert maximum(submit_rights(own, [POOL], "owner"), user="alice") is Priority.Medium


def test_submitting__no_policy_or_empty_one__everybody_or_nobody() -> None:
    assert maximum(submit_rights(None, [()], "owner")) is Priority.Urgent
    assert maximum(submit_rights((), [()], "owner")) is None


def test_owner__without_entry__has_maximum_of_everybody() -> None:
    assert maximum(submit_rights((), [], "owner"), user="owner") is Priority.Urgent
    assert maximum(submit_rights((), [], "owner"), user="another") is None
    assert maximum(submit_rights(None, [POOL], "owner"), user="owner") is Priority.Medium


def test_borrower__without_entry__is_only_submitter() -> None:
    decides = submit_rights((), [], "owner", borrower="bob")
    assert maximum(decides, user="bob") is Priority.Urgent
    assert not decides.is_lent_away(Submitter("bob", None))
    assert decides.is_lent_away(Submitter("owner", None)) and decides.is_lent_away(Submitter(None, "qe"))


def test_submitting__open_to_all__owner_is_left_out() -> None:
    assert submit_rights(None, [POOL], "alice") == submit_rights(None, [POOL], "bob")
    assert submit_rights((), [], "alice") != submit_rights((), [], "bob")


@pytest.mark.parametrize(
    "entries", [[], [ALICE, ALL_OTHERS, DESIGNATED], [{"permission": "view", "user": "x"}]]
)
def test_policy_form__any_order__round_trips(entries: list[dict[str, object]]) -> None:
    policy: Policy = policy_of(entries)
    assert policy_of(policy_form(policy)) == policy == policy_of([*reversed(entries), *entries])


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


VIEW = {"permission": "view"}
NOBODY = 'names nobody; an entry must have one of "user", "group" and "everybody": true'
BOTH = 'names user and group; an entry must have one of "user", "group" and "everybody": true'


def exists(kind: str, name: str) -> bool:
    return (kind, name) in {("user", "bob"), ("group", "qa")}


def test_faults__of_all_entries__each_at_its_place() -> None:
    entries: list[dict[str, Any]] = [
        VIEW,
        {**VIEW, "user": "bob", "group": "qa"},
        {**VIEW, "user": "eve", "group": None, "everybody": False},
        {**VIEW, "group": "bob", "maximum_effective_priority": "High"},
        {**VIEW, "everybody": True},
        {"permission": "submit", "group": "qa", "maximum_effective_priority": "High"},
    ]
    assert [(fault.where, fault.message) for fault in faults_of(entries, exists)] == [
        ("entries[0]", NOBODY),
        ("entries[1]", BOTH),
        ("entries[2].user", 'there is no user "eve"'),
        ("entries[3].group", 'there is no group "bob"'),
        ("entries[3].maximum_effective_priority", "is only for the permission submit"),
    ]


SUBMIT = {"permission": "submit", "group": "qa"}
MAXIMUM = "maximum_effective_priority"


@pytest.mark.parametrize(
    ("entries", "kept"),
    [
        # Equal entries, with and without the optional fields.
        ([{**VIEW, "user": "bob"}, {**VIEW, "user": "bob", "group": None, "everybody": False}], 1),
        ([{**VIEW, "user": "bob"}, {**VIEW, "everybody": True}], 2),
    ],
)
def test_normalised__equal_entries__one_remains(entries: list[dict[str, Any]], kept: int) -> None:
    assert len(normalised(entries)) == kept


@pytest.mark.parametrize(
    ("maxima", "kept"),
    [(["Low", "High", "Medium"], "High"), ([None], "Urgent"), (["Low", None], "Urgent"), (["Low"], "Low")],
)
def test_normalised__several_maxima__highest_remains(maxima: list[str | None], kept: str) -> None:
    entries = [*({**SUBMIT, MAXIMUM: maximum} for maximum in maxima), {**VIEW, "everybody": True}]
    assert normalised(entries) == [{**VIEW, "everybody": True}, {**SUBMIT, MAXIMUM: kept}]


def test_normalised__any_order__is_canonical() -> None:
    entries = [{**SUBMIT, MAXIMUM: "Low"}, {**VIEW, "user": "bob"}, {**VIEW, "group": "qa"}]
    assert normalised(entries) == normalised(entries[::-1])


def test_without__user__drops_entries_of_user() -> None:
    policy = (
        PolicyEntry("view", "bob"),
        PolicyEntry("view", group="bob"),
        PolicyEntry("submit", "bob", None, Priority.Low),
    )
    assert without(policy, "user", "bob") == (PolicyEntry("view", group="bob"),)
