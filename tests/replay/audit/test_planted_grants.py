"""The audit finds faults of grants and of placed recipes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from domain.directory.events import DistroTreeRemoved, LabControllerDisabled
from domain.recipe import events as recipe_events
from domain.system import events as system_events
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
    pending,
    place,
    queued,
    scheduled,
    waiting,
)
from tests.replay.audit.planted import assert_caught, opening
from tests.replay.audit.story import Story


@pytest.mark.parametrize(
    "eased",
    [
        [("lab-controller/lab-1", LabControllerDisabled())],
        [("system/b", SystemDrained(reason="fan"))],
        [("system/b", system_events.SystemOccupied("by what?", None, None))],
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
    story.decide([*grant(7, "c", "lab-2"), assigned(8, "lab-2")])
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


Plant = Callable[[Story], None]


def test_one_recipe_per_system__second_recipe_on_it__is_found() -> None:
    story = opening()
    story.commit(condition("a", "Automated"))
    story.decide([*place(2, "a")])
    beside = {"legal_transitions", "in_step", "usable_grant"}
    assert_caught(story, "one_recipe_per_system", "recipe/1", "recipe/2", "system/a", beside=beside)


def test_one_recipe_per_system__guest_elsewhere__is_found() -> None:
    story = opening()
    story.job(5, {5: only("b")}, guests={6: 5})
    story.decide([*place(5, "b"), scheduled(6, "a"), waiting(6, "a")])
    assert_caught(story, "one_recipe_per_system", "recipe/5", "recipe/6")


def system_is_left_behind(story: Story) -> None:
    story.commit(("recipe/1", recipe_events.RecipeInstalling(system="a")))


def recipe_is_left_behind(story: Story) -> None:
    story.commit(cancelled(1))


def system_is_freed_alone(story: Story) -> None:
    story.commit(pending("a"))


def recipe_reports_from_elsewhere(story: Story) -> None:
    story.commit(
        ("recipe/1", recipe_events.RecipeInstalling(system="b")),
        ("system/a", system_events.SystemInstalling(recipe_id=1)),
    )


def person_has_what_is_idle(story: Story) -> None:
    story.commit(
        ("system/m", system_events.SystemReservationBegun(user="ada", until=None, distro_tree_id=None))
    )


def nobody_has_what_runs(story: Story) -> None:
    story.commit(("system/m", system_events.SystemRunning(recipe_id=None)))


def drained_system_is_pending(story: Story) -> None:
    story.commit(("system/b", system_events.SystemDrained(reason="fan")), pending("b"))


def occupied_system_is_pending(story: Story) -> None:
    story.commit(("system/b", system_events.SystemOccupied("by what?", None, None)), pending("b"))


def broken_system_keeps_its_recipe(story: Story) -> None:
    story.commit(condition("a", "Broken"))


@pytest.mark.parametrize(
    ("plant", "subject"),
    [
        (system_is_left_behind, "recipe/1"),
        (recipe_is_left_behind, "system/a"),
        (system_is_freed_alone, "recipe/1"),
        (recipe_reports_from_elsewhere, "recipe/1"),
        (person_has_what_is_idle, "system/m"),
        (nobody_has_what_runs, "system/m"),
        (drained_system_is_pending, "system/b"),
        (occupied_system_is_pending, "system/b"),
        (broken_system_keeps_its_recipe, "system/a"),
    ],
)
def test_in_step__one_side_moves_alone__is_found(plant: Plant, subject: str) -> None:
    story = opening()
    plant(story)
    assert_caught(story, "in_step", subject)


def test_in_step__guest_is_not_queued_with_its_host__is_found() -> None:
    story = opening()
    story.job(5, {5: only("a")}, guests={6: 5})
    story.decide([queued(5)])
    assert_caught(story, "in_step", "recipe/5", "recipe/6")


def test_in_step__guest_outlives_its_host__is_found() -> None:
    story = opening()
    story.job(5, {5: only("b")}, guests={6: 5})
    story.decide([*place(5, "b"), scheduled(6, "b"), waiting(6, "b")])
    story.complete(5, "b")
    assert_caught(story, "in_step", "recipe/5", "recipe/6")


def freed_system_goes_idle(story: Story) -> None:
    story.commit(cancelled(1), idle("a"))


def repaired_system_stays_idle(story: Story) -> None:
    story.commit(condition("b", "Broken"))
    story.commit(condition("b", "Automated"))


def undrained_system_stays_idle(story: Story) -> None:
    story.commit(("system/b", system_events.SystemDrained(reason="fan")))
    story.commit(("system/b", system_events.SystemUndrained()))


def vacated_system_stays_idle(story: Story) -> None:
    story.commit(("system/b", system_events.SystemOccupied("by what?", None, None)))
    story.commit(("system/b", system_events.SystemVacated("gone")))


def added_system_stays_idle(story: Story) -> None:
    story.commit(("system/b", system_events.SystemRegistered("lab-1", "ada", "Automated", {})))


@pytest.mark.parametrize(
    ("plant", "subject", "beside"),
    [
        (freed_system_goes_idle, "system/a", set()),
        (repaired_system_stays_idle, "system/b", set()),
        (undrained_system_stays_idle, "system/b", set()),
        (vacated_system_stays_idle, "system/b", set()),
        (added_system_stays_idle, "system/b", {"legal_transitions"}),
    ],
)
def test_the_queue_is_asked__system_goes_idle_at_once__is_found(
    plant: Plant, subject: str, beside: set[str]
) -> None:
    story = opening()
    plant(story)
    assert_caught(story, "the_queue_is_asked", subject, beside=beside)
