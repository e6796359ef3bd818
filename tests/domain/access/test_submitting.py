"""The right to submit to a system, and the maximum effective priority."""

from __future__ import annotations

import pytest

from domain.access.policy import Policy, policy_form, policy_of
from domain.access.submitting import Submitting, Who, submitting
from domain.priority import Priority

DESIGNATED = {"permission": "submit", "group": "qe", "maximum_effective_priority": "Urgent"}
ALL_OTHERS = {"permission": "submit", "everybody": True, "maximum_effective_priority": "Medium"}
ALICE = {"permission": "submit", "user": "alice", "maximum_effective_priority": "High"}
POOL = policy_of([ALL_OTHERS, DESIGNATED])


def maximum(decides: Submitting, user: str | None = None, group: str | None = None) -> Priority | None:
    return decides.maximum(Who(user, group))


def test_maximum__of_the_entries_that_name_the_group_or_everybody__is_the_highest() -> None:
    decides = submitting(None, [POOL], "owner")
    assert maximum(decides, group="qe") is Priority.Urgent
    assert maximum(decides, group="another") is Priority.Medium
    assert maximum(decides) is Priority.Medium


def test_maximum__of_several_pools__is_the_highest() -> None:
    lower = policy_of([{**DESIGNATED, "maximum_effective_priority": "Low"}])
    assert maximum(submitting(None, [lower], "owner"), group="qe") is Priority.Low
    assert maximum(submitting(None, [lower, POOL], "owner"), group="qe") is Priority.Urgent


def test_maximum__entry_names_a_user__is_for_that_user_alone() -> None:
    decides = submitting(policy_of([ALICE]), [], "owner")
    assert maximum(decides, user="alice") is Priority.High
    assert maximum(decides, user="bob", group="alice") is None


def test_own_policy__some_pool_has_an_entry_to_submit__does_not_count() -> None:
    own = policy_of([ALICE])
    views = policy_of([{"permission": "view", "everybody": True}])
    assert maximum(submitting(own, [views], "owner"), user="alice") is Priority.High
    assert maximum(submitting(own, [POOL], "owner"), user="alice") is Priority.Medium


def test_submitting__no_policy_or_empty_one__everybody_or_nobody() -> None:
    assert maximum(submitting(None, [()], "owner")) is Priority.Urgent
    assert maximum(submitting((), [()], "owner")) is None


def test_owner__without_entry__has_maximum_of_everybody() -> None:
    assert maximum(submitting((), [], "owner"), user="owner") is Priority.Urgent
    assert maximum(submitting((), [], "owner"), user="another") is None
    assert maximum(submitting(None, [POOL], "owner"), user="owner") is Priority.Medium


def test_borrower__without_entry__is_only_submitter() -> None:
    decides = submitting((), [], "owner", borrower="bob")
    assert maximum(decides, user="bob") is Priority.Urgent
    assert not decides.is_lent_away(Who("bob", None))
    assert decides.is_lent_away(Who("owner", None)) and decides.is_lent_away(Who(None, "qe"))


def test_submitting__open_to_all__owner_is_left_out() -> None:
    assert submitting(None, [POOL], "alice") == submitting(None, [POOL], "bob")
    assert submitting((), [], "alice") != submitting((), [], "bob")


@pytest.mark.parametrize(
    "entries", [[], [ALICE, ALL_OTHERS, DESIGNATED], [{"permission": "view", "user": "x"}]]
)
def test_policy_form__any_order__round_trips(
    entries: list[dict[str, object]],
) -> None:
    policy: Policy = policy_of(entries)
    assert policy_of(policy_form(policy)) == policy == policy_of([*reversed(entries), *entries])
