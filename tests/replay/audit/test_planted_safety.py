"""Planted unsafe grants, and sound grants that resemble them."""

from __future__ import annotations

from domain.directory.events import DistroTreeRemoved
from domain.system.events import SystemDrained
from tests.replay.audit.moves import (
    assigned,
    cancelled,
    grant,
    idle,
    only,
    pending,
    place,
    queued,
    start,
)
from tests.replay.audit.planted import assert_caught, opening
from tests.replay.audit.story import Story


def _abba() -> Story:
    """Return the story of design 4.3: set 1 holds b and wants a, set 2 holds c and wants a, then b; a
    comes free.
    """
    story = Story()
    story.labs("lab-1")
    story.tree(1, "lab-1")
    story.idle("a", "b", "c")
    story.job(9, {9: only("a")})
    story.decide(place(9, "a"))
    story.job(1, {11: only("a"), 12: only("b")})
    story.decide([*grant(12, "b"), assigned(11)])
    story.job(2, {21: only("c"), 22: only("a"), 23: only("b")}, "Urgent")
    story.decide([*grant(21, "c"), assigned(22), assigned(23)])
    story.complete(9, "a")
    return story


def test_no_unsafe_grant__smallest_deadlock__is_found() -> None:
    story = _abba()
    story.decide(grant(22, "a"))
    assert_caught(story, "no_unsafe_grant", "recipe/22", "system/a", "recipe-set/1", "recipe-set/2")


def test_nobody_jumped__the_one_before_was_passed_over_as_unsafe__is_no_jump() -> None:
    story = _abba()
    story.decide([*grant(11, "a"), *start(11, "a"), *start(12, "b")])
    assert story.violations() == []


def test_no_unsafe_grant__set_that_can_never_be_whole__is_found() -> None:
    story = opening()
    story.system("e", condition="Broken")
    story.job(5, {5: only("b"), 6: only("e")})
    story.decide([*grant(5, "b"), assigned(6)])
    assert_caught(story, "no_unsafe_grant", "recipe/5", "system/b", "recipe-set/5")


def test_no_unsafe_grant__the_rest_is_busy__comes_free() -> None:
    story = opening()
    story.job(5, {5: only("b"), 6: only("a")})
    story.decide([*grant(5, "b"), assigned(6)])
    assert story.violations() == []


def test_no_unsafe_grant__another_lab_is_stuck__does_not_matter() -> None:
    story = opening()
    story.idle("d", lab="lab-2")
    story.job(4, {4: only("d")})
    story.decide(place(4, "d", "lab-2"))
    story.job(5, {5: only("c"), 6: only("d")})
    story.decide([*grant(5, "c", "lab-2"), assigned(6, "lab-2")])
    story.commit(("system/d", SystemDrained(reason="fan")))
    story.job(7, {7: only("b"), 8: only("a")})
    story.decide([*grant(7, "b"), assigned(8)])
    assert story.violations() == []


def test_no_unsafe_grant__two_want_the_same_one__is_found() -> None:
    story = opening()
    story.job(5, {5: only("b"), 6: only("a"), 7: only("a")})
    story.decide([*grant(5, "b"), assigned(6), assigned(7)])
    assert_caught(story, "no_unsafe_grant", "recipe/5", "system/b", "recipe-set/5")


def test_no_unsafe_grant__matched_only_if_one_makes_way__is_safe() -> None:
    story = opening()
    story.idle("e")
    story.job(4, {4: only("e")})
    story.decide(place(4, "e"))
    story.job(5, {5: only("b"), 6: only("a", "e"), 7: only("a")})
    story.decide([*grant(5, "b"), assigned(6), assigned(7)])
    assert story.violations() == []


def test_no_unsafe_grant__let_go_and_taken_up_again_by_another__is_sound() -> None:
    story = _abba()
    why = "to let others finish"
    story.decide([*(queued(number, why) for number in (21, 22, 23)), pending("c")])
    story.decide([*grant(11, "a"), *start(11, "a"), *start(12, "b")])
    assert story.violations() == []


def test_no_unsafe_grant__what_the_rest_installs_left_the_lab__is_found() -> None:
    story = opening()
    story.tree(2, "lab-1")
    story.job(5, {5: only("b"), 6: only("a")}, trees={6: 2})
    story.decide([*grant(5, "b"), assigned(6)])
    story.commit(cancelled(5), cancelled(6), pending("b"))
    story.decide([idle("b")])
    assert story.violations() == []
    story.commit(("distro-tree/2", DistroTreeRemoved()))
    story.job(7, {7: only("b"), 8: only("a")}, trees={8: 2})
    story.decide([*grant(7, "b"), assigned(8)])
    assert_caught(story, "no_unsafe_grant", "recipe/7", "system/b", "recipe-set/7")
