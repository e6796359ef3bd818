"""Planted faults of grants, and sound grants that resemble faults."""

from __future__ import annotations

import pytest

from domain.directory.events import DistroTreeRemoved, LabControllerDisabled
from domain.system.events import SystemDrained
from tests.replay.audit.access_events import reserved
from tests.replay.audit.moves import (
    Pair,
    assigned,
    cancelled,
    condition,
    grant,
    idle,
    only,
    place,
)
from tests.replay.audit.planted import assert_caught, opening
from tests.replay.audit.story import Story


@pytest.mark.parametrize(
    "eased",
    [
        [("lab-controller/lab-1", LabControllerDisabled())],
        [("system/b", SystemDrained(reason="fan"))],
        [("distro-tree/1", DistroTreeRemoved())],
        [condition("b", "Manual")],
        [condition("b", "Broken")],
    ],
    ids=str,
)
def test_usable_grant__system_may_not_be_had__is_found(eased: list[Pair]) -> None:
    story = opening()
    story.job(5, {5: only("b")})
    story.commit(*eased)
    story.decide(place(5, "b"))
    assert_caught(story, "usable_grant", "recipe/5", "system/b", beside=None)


def test_usable_grant__requirement_does_not_hold__is_found() -> None:
    story = opening()
    story.job(5, {5: only("a")})
    story.decide(place(5, "b"))
    assert_caught(story, "usable_grant", "recipe/5", "system/b")


def test_usable_grant__a_person_has_it__is_found() -> None:
    story = opening()
    story.job(5, {5: {"force": "m"}})
    story.commit(*reserved("m"))
    story.decide(place(5, "m"))
    assert_caught(story, "usable_grant", "recipe/5", "system/m", beside=None)


def test_usable_grant__tree_of_a_guest_is_not_in_the_lab__is_found() -> None:
    story = opening()
    story.tree(2, "lab-2")
    story.job(5, {5: only("b")}, guests={6: 5}, trees={6: 2})
    story.decide([*place(5, "b"), *_guest_with(6, "b")])
    assert_caught(story, "usable_grant", "recipe/5", "system/b")


def _guest_with(number: int, fqdn: str) -> list[Pair]:
    return [pair for pair in place(number, fqdn) if pair[0].startswith("recipe/")]


def _two_want_b(first: str, second: str) -> Story:
    """Return a story: recipes 5 and 6 of two sets are queued with these priorities, and b is pending."""
    story = opening()
    story.job(4, {4: only("b")}, "Urgent")
    story.decide(place(4, "b"))
    story.queue(5, {5: only("b")}, first)
    story.queue(6, {6: only("b")}, second)
    story.complete(4, "b")
    return story


@pytest.mark.parametrize(
    ("first", "second", "wins", "jumped"),
    [
        ("Normal", "Normal", 5, False),
        ("Normal", "Normal", 6, True),
        ("Normal", "High", 6, False),
        ("Normal", "High", 5, True),
        ("Urgent", "High", 6, True),
        ("Low", "Medium", 5, True),
    ],
)
def test_nobody_jumped__priority_then_submission__decide(
    first: str, second: str, wins: int, jumped: bool
) -> None:
    story = _two_want_b(first, second)
    story.decide(place(wins, "b"))
    assert [violation.invariant for violation in story.violations()] == ["nobody_jumped"] * jumped


def test_nobody_jumped__priority_was_changed__the_new_one_counts() -> None:
    story = _two_want_b("Normal", "Normal")
    story.priority(6, "High")
    story.decide(place(5, "b"))
    assert_caught(story, "nobody_jumped", "recipe/5", "recipe/6", "system/b")


def test_nobody_jumped__priority_changed_after_the_basis__does_not_count() -> None:
    story = _two_want_b("Normal", "Normal")
    basis = story.end
    story.priority(6, "High")
    story.decide(place(5, "b"), basis=basis)
    assert story.violations() == []


def test_nobody_jumped__the_one_before_took_another_in_the_same_commit__nobody_is() -> None:
    story = _two_want_b("Normal", "Normal")
    story.system("e")
    story.commit(cancelled(5))
    story.queue(7, {7: only("b", "e")}, "High")
    assert [violation.invariant for violation in story.violations()] == []
    story.decide(place(7, "e"), place(6, "b"))
    assert story.violations() == []


def test_nobody_jumped__assigned_recipe_of_low_priority__goes_before_urgent_ones() -> None:
    story = _two_want_b("Urgent", "Low")
    story.commit(cancelled(6))
    story.idle("e")
    story.job(7, {7: only("e"), 8: only("b")}, "Low")
    story.decide([*grant(7, "e"), assigned(8)])
    story.decide(place(5, "b"))
    assert_caught(story, "nobody_jumped", "recipe/5", "recipe/8", "system/b")


def test_nobody_jumped__assigned_in_another_lab__does_not_stand_before() -> None:
    story = opening()
    story.job(7, {7: only("c"), 8: only("b", "d")}, "Urgent")
    story.system("d", "lab-2", condition="Automated")
    story.job(9, {9: only("d")}, "Urgent")
    story.decide(
        [*grant(7, "c", "lab-2"), assigned(8, "lab-2")],
    )
    story.job(5, {5: only("b")}, "Low")
    story.decide(place(5, "b"))
    assert story.violations() == []


def test_nobody_jumped__new_job_before_one_that_waits_beside_an_idle_system__is_found() -> None:
    story = _two_want_b("Normal", "Low")
    story.decide([idle("b")])
    story.job(7, {7: only("b")})
    story.decide(place(7, "b"))
    assert_caught(story, "nobody_jumped", "recipe/7", "recipe/5", beside={"nobody_overlooked"})


def test_nobody_jumped__new_recipe_that_was_not_looked_at__does_not_stand_in_the_queue() -> None:
    story = _two_want_b("Normal", "Normal")
    story.job(7, {7: only("b")}, "Urgent")
    story.decide(place(5, "b"))
    assert story.violations() == []


def test_nobody_overlooked__pending_system_goes_idle_though_wanted__is_found() -> None:
    story = _two_want_b("Normal", "Normal")
    story.decide([idle("b")])
    assert_caught(story, "nobody_overlooked", "recipe/5", "system/b")
