"""The audit finds faults of access: permissions, closed systems and pools, loans, reservations."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.domain.scheduling.policies import everybody, group, user
from tests.replay.audit.access_events import (
    given_back,
    group_is_now,
    group_made,
    group_removed,
    into_pool,
    lent,
    out_of_pool,
    own_policy,
    owned_by,
    pool_policy,
    pool_removed,
    reserved,
    returned,
)
from tests.replay.audit.moves import Pair, assigned, condition, grant, idle, only, pending, place
from tests.replay.audit.planted import assert_caught, opening
from tests.replay.audit.story import Story

QE = group_made("qe", "bob", "eve")


def bobs(before: Sequence[Pair] = (), after: Sequence[Pair] = (), owner: str = "bob") -> Story:
    """Return a story: systems are ada's, b is idle, and recipe 5 is new, of bob for qe.

    `before` and `after` happen before and after the submission.
    """
    story = opening()
    for pair in (QE, *before):
        story.commit(pair)
    story.job(5, {5: only("b")}, owner=owner, group="qe")
    for pair in after:
        story.commit(pair)
    return story


OPEN: dict[str, Sequence[Pair]] = {
    "no policy was ever given": [],
    "everybody may": [own_policy("b", everybody("Low"))],
    "bob may": [own_policy("b", user("bob", "Low"))],
    "his group may": [own_policy("b", group("qe", "Low"))],
    "its pool lets his group, its own policy nobody": [
        own_policy("b"),
        into_pool("big", "b"),
        pool_policy("big", group("qe")),
    ],
    "one of its pools does": [
        pool_policy("big", group("others")),
        pool_policy("small", user("bob")),
        into_pool("big", "b"),
        into_pool("small", "b"),
    ],
    "its pool says nothing of submitting": [
        into_pool("big", "b"),
        pool_policy("big", {"permission": "view", "user": "eve"}),
    ],
    "its pool is gone": [
        pool_policy("big", user("eve")),
        into_pool("big", "b"),
        out_of_pool("big", "b"),
        pool_removed("big"),
    ],
    "a pool of that name had a policy, and this is another": [
        pool_policy("big", user("eve")),
        pool_removed("big"),
        into_pool("big", "b"),
    ],
    "he owns it": [own_policy("b"), owned_by("b", "bob")],
    "he has borrowed it": [own_policy("b"), lent("b", "bob")],
    "it was given back": [lent("b", "eve"), given_back("b")],
}


@pytest.mark.parametrize("before", OPEN.values(), ids=OPEN)
def test_allowed_grant__he_may_have_it__no_violation(before: Sequence[Pair]) -> None:
    story = bobs(before)
    story.decide(place(5, "b"))
    assert story.violations() == []


CLOSED: dict[str, Sequence[Pair]] = {
    "nobody may": [own_policy("b")],
    "others may": [own_policy("b", group("others"), user("eve"))],
    "his pool lets others, its own policy him": [
        own_policy("b", user("bob")),
        into_pool("big", "b"),
        pool_policy("big", user("eve")),
    ],
    "it joined such a pool later": [pool_policy("big", user("eve")), into_pool("big", "b")],
    "he owned it": [owned_by("b", "bob"), own_policy("b"), owned_by("b", "ada")],
    "he had borrowed it": [own_policy("b"), lent("b", "bob"), given_back("b")],
}


@pytest.mark.parametrize("before", CLOSED.values(), ids=CLOSED)
def test_allowed_grant__he_may_not__is_found(before: Sequence[Pair]) -> None:
    story = bobs(before)
    story.decide(place(5, "b"))
    assert_caught(story, "allowed_grant", "recipe/5", "system/b")
    (found,) = story.violations()
    assert found.what.startswith("grant without access: recipe/5 belongs to bob for qe")
    assert "b" in found.what


def test_allowed_grant__access_is_lost_after_the_basis__is_not_held_against_it() -> None:
    story = bobs()
    basis = story.end
    story.commit(own_policy("b"))
    story.decide(place(5, "b"), basis=basis)
    assert story.violations() == []


FOR_QE = own_policy("b", group("qe"))
LEFT: dict[str, Sequence[Pair]] = {
    "he left": [group_is_now("qe", "eve")],
    "it is gone": [group_removed("qe")],
    "it is gone, and he is not in the next of its name": [group_removed("qe"), group_made("qe", "eve")],
}


@pytest.mark.parametrize("after", LEFT.values(), ids=LEFT)
def test_allowed_grant__his_group_counts_no_more__is_found(after: Sequence[Pair]) -> None:
    story = bobs([FOR_QE], after)
    story.decide(place(5, "b"))
    assert_caught(story, "allowed_grant", "recipe/5", "system/b")


STILL: dict[str, tuple[str, Sequence[Pair]]] = {
    "he is in it": ("bob", []),
    "others leave": ("bob", [group_is_now("qe", "bob")]),
    "it is gone, and he is in the next of its name": ("bob", [group_removed("qe"), group_made("qe", "bob")]),
    "he owns it, and is no member": ("bob", [group_is_now("qe", "eve", owners=["bob"])]),
    "he left and came back": ("bob", [group_is_now("qe"), group_is_now("qe", "bob")]),
    "who never was in it cannot leave it": ("dan", [group_is_now("qe", "bob")]),
    "another group is gone": ("bob", [group_made("others", "bob"), group_removed("others")]),
}


@pytest.mark.parametrize(("owner", "after"), STILL.values(), ids=STILL)
def test_allowed_grant__his_group_still_counts__no_violation(owner: str, after: Sequence[Pair]) -> None:
    story = bobs([FOR_QE], after, owner)
    story.decide(place(5, "b"))
    assert story.violations() == []


def test_allowed_grant__submitted_for_the_group_that_came_later__counts() -> None:
    story = bobs([FOR_QE, group_removed("qe"), group_made("qe", "bob")])
    story.decide(place(5, "b"))
    assert story.violations() == []


def test_lent_system__to_another_than_the_borrower__is_found() -> None:
    story = bobs([lent("b", "eve")])
    story.decide(place(5, "b"))
    assert_caught(story, "lent_system", "recipe/5", "system/b")
    (found,) = story.violations()
    assert found.what.startswith("grant of a system on loan to another: b is on loan to eve")


def test_lent_system__to_its_owner__is_found() -> None:
    story = bobs([lent("b", "eve")], owner="ada")
    story.decide(place(5, "b"))
    assert_caught(story, "lent_system", "recipe/5", "system/b")


@pytest.mark.parametrize("policy", [2, 3])
def test_allowed_grant__by_a_policy_that_knew_no_access__is_not_judged_by_it(policy: int) -> None:
    story = bobs([own_policy("b")])
    story.decide(place(5, "b"), policy=policy)
    story.complete(5, "b")
    story.commit(lent("b", "eve"))
    story.job(6, {6: only("b")}, owner="bob")
    story.decide(place(6, "b"), policy=policy)
    assert story.violations() == []


@pytest.mark.parametrize("closed", [own_policy("a", user("ada")), lent("a", "ada")], ids=str)
def test_nobody_jumped__past_recipe_without_access__no_violation(closed: Pair) -> None:
    story = opening()
    story.queue(5, {5: only("a")}, "Urgent", owner="bob")
    story.commit(closed)
    story.complete(1, "a")
    story.decide(place(2, "a"))
    story.complete(2, "a")
    story.decide([idle("a")])
    assert story.violations() == []


def test_nobody_overlooked__recipe_that_regained_access__is_found() -> None:
    story = opening()
    story.queue(5, {5: only("a")}, owner="bob")
    story.commit(lent("a", "ada"))
    story.complete(1, "a")
    story.decide(place(2, "a"))
    story.commit(given_back("a"))
    story.complete(2, "a")
    story.decide([idle("a")])
    assert_caught(story, "nobody_overlooked", "recipe/5", "system/a")


def test_at_rest__idle_system_on_loan_to_another__may_stay_idle() -> None:
    story = opening()
    story.commit(lent("b", "eve"))
    story.queue(5, {5: only("b")}, owner="bob")
    assert story.at_rest() == []
    story.commit(given_back("b"))
    assert [found.subjects for found in story.at_rest()] == [("recipe/5", "system/b")]


@pytest.mark.parametrize("closed", [own_policy("e", user("ada")), lent("e", "ada")], ids=str)
def test_no_unsafe_grant__the_rest_of_the_set_is_closed_to_it__is_found(closed: Pair) -> None:
    story = opening()
    story.idle("e")
    story.commit(closed)
    story.job(5, {5: only("b"), 6: only("e")}, owner="bob")
    story.decide([*grant(5, "b"), assigned(6)])
    assert_caught(story, "no_unsafe_grant", "recipe/5", "system/b", "recipe-set/5")


def test_no_unsafe_grant__the_rest_of_the_set_is_open_to_it__no_violation() -> None:
    story = opening()
    story.system("e", condition="Automated")
    story.job(4, {4: only("e")})
    story.decide(place(4, "e"))
    story.commit(own_policy("e", user("bob")))
    story.job(5, {5: only("b"), 6: only("e")}, owner="bob")
    story.decide([*grant(5, "b"), assigned(6)])
    assert story.violations() == []


def test_at_rest__holder_that_lost_access_did_not_let_go__is_found() -> None:
    story = opening()
    story.system("e", condition="Automated")
    story.job(4, {4: only("e")})
    story.decide(place(4, "e"))
    story.job(5, {5: only("b"), 6: only("e")}, owner="bob")
    story.decide([*grant(5, "b"), assigned(6)])
    assert story.at_rest() == []
    story.commit(own_policy("e", user("ada")))
    assert [found.invariant for found in story.at_rest()] == ["no_holder_stuck"]


def test_rightful_reservation__of_a_system_on_loan_to_the_user__no_violation() -> None:
    story = opening()
    story.commit(lent("b", "bob"))
    story.commit(*reserved("b", "bob"))
    story.commit(lent("m", "bob"))
    story.commit(*reserved("m", "bob"))
    assert story.violations() == []


def test_rightful_reservation__returned__the_queue_is_asked() -> None:
    story = opening()
    story.commit(lent("b", "bob"))
    story.commit(*reserved("b", "bob"))
    story.queue(5, {5: only("b")}, owner="bob")
    story.commit(returned("b"), pending("b"))
    story.decide(place(5, "b"))
    assert story.violations() == []


def test_the_queue_is_asked__borrower_returned_it__idle_at_once_is_found() -> None:
    story = opening()
    story.commit(lent("b", "bob"))
    story.commit(*reserved("b", "bob"))
    story.commit(returned("b"), idle("b"))
    assert_caught(story, "the_queue_is_asked", "system/b")


@pytest.mark.parametrize(
    ("before", "fqdn"),
    [
        # Automated, and without a borrower.
        ([], "b"),
        ([lent("b", "eve")], "b"),
        ([lent("b", "bob"), given_back("b")], "b"),
        ([lent("m", "eve")], "m"),
        ([condition("b", "Broken")], "b"),
        ([lent("b", "bob"), condition("b", "Removed")], "b"),
    ],
    ids=str,
)
def test_rightful_reservation__without_permission__is_found(before: Sequence[Pair], fqdn: str) -> None:
    story = opening()
    for pair in before:
        story.commit(pair)
    story.commit(*reserved(fqdn, "bob"))
    assert_caught(story, "rightful_reservation", f"system/{fqdn}")
