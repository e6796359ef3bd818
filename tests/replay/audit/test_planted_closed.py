"""Planted faults around closed systems: a recipe neither waits for a closed system nor counts on one."""

from __future__ import annotations

import pytest

from tests.domain.scheduling.policies import user
from tests.replay.audit.access_events import given_back, lent, own_policy
from tests.replay.audit.moves import Pair, assigned, grant, idle, only, place
from tests.replay.audit.planted import assert_caught, opening


@pytest.mark.parametrize("closed", [own_policy("a", user("ada")), lent("a", "ada")], ids=str)
def test_nobody_jumped__past_one_who_may_not_have_it__no_violation(closed: Pair) -> None:
    story = opening()
    story.queue(5, {5: only("a")}, "Urgent", owner="bob")
    story.commit(closed)
    story.complete(1, "a")
    story.decide(place(2, "a"))
    story.complete(2, "a")
    story.decide([idle("a")])
    assert story.violations() == []


def test_nobody_overlooked__who_may_have_it_again__is_found() -> None:
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
