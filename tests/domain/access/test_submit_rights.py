"""The right to submit to a system, and the maximum effective priority."""

from __future__ import annotations

import pytest

from domain.access.policy import Policy, policy_form, policy_of
from domain.access.submit_rights import SubmitRights, Submitter, submit_rights
from domain.priority import Priority

DESIGNATED = {"permission": "submit", "group": "qe", "maximum_effective_priority": "Urgent"}
ALL_OTHERS = {"permission": "submit", "everybody": True, "maximum_effective_priority": "Medium"}
ALICE = {"permission": "submit", "user": "alice", "maximum_effective_priority": "High"}
POOL = policy_of([ALL_OTHERS, DESIGNATED])


def maximum(rights: SubmitRights, user: str | None = None, group: str | None = None) -> Priority | None:
    return rights.maximum(Submitter(user, group))


def test_maximum__of_the_entries_that_name_the_group_or_everybody__is_the_highest() -> None:
    rights = submit_rights(None, [POOL], "owner")
    assert maximum(rights, group="qe") is Priority.Urgent
    assert maximum(rights, group="another") is Priority.Medium
    assert maximum(rights) is Priority.Medium


def test_maximum__of_several_pools__is_the_highest() -> None:
    lower = policy_of([{**DESIGNATED, "maximum_effective_priority": "Low"}])
    assert maximum(submit_rights(None, [lower], "owner"), group="qe") is Priority.Low
    assert maximum(submit_rights(None, [lower, POOL], "owner"), group="qe") is Priority.Urgent


def test_maximum__entry_names_a_user__is_for_that_user_alone() -> None:
    rights = submit_rights(policy_of([ALICE]), [], "owner")
    assert maximum(rights, user="alice") is Priority.High
    assert maximum(rights, user="bob", group="alice") is None


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
    rights = submit_rights((), [], "owner", borrower="bob")
    assert maximum(rights, user="bob") is Priority.Urgent
    assert not rights.is_lent_away(Submitter("bob", None))
    assert rights.is_lent_away(Submitter("owner", None)) and rights.is_lent_away(Submitter(None, "qe"))


def test_submitting__open_to_all__owner_is_left_out() -> None:
    assert submit_rights(None, [POOL], "alice") == submit_rights(None, [POOL], "bob")
    assert submit_rights((), [], "alice") != submit_rights((), [], "bob")


@pytest.mark.parametrize(
    "entries", [[], [ALICE, ALL_OTHERS, DESIGNATED], [{"permission": "view", "user": "x"}]]
)
def test_policy_form__any_order__round_trips(
    entries: list[dict[str, object]],
) -> None:
    policy: Policy = policy_of(entries)
    assert policy_of(policy_form(policy)) == policy == policy_of([*reversed(entries), *entries])
