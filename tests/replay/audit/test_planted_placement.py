"""Planted faults of placement, and of systems that come free."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from domain.recipe import events as recipe_events
from domain.system import events as system_events
from tests.replay.audit.moves import (
    cancelled,
    condition,
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
        ("system/m", system_events.SystemReservationBegun(user="ada", until=None, distro_tree_id=None)),
    )


def nobody_has_what_runs(story: Story) -> None:
    story.commit(("system/m", system_events.SystemRunning(recipe_id=None)))


def drained_system_is_pending(story: Story) -> None:
    story.commit(("system/b", system_events.SystemDrained(reason="fan")), pending("b"))


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


def added_system_stays_idle(story: Story) -> None:
    story.commit(("system/b", system_events.SystemRegistered("lab-1", "ada", "Automated", {})))


@pytest.mark.parametrize(
    ("plant", "subject", "beside"),
    [
        (freed_system_goes_idle, "system/a", set()),
        (repaired_system_stays_idle, "system/b", set()),
        (undrained_system_stays_idle, "system/b", set()),
        (added_system_stays_idle, "system/b", {"legal_transitions"}),
    ],
)
def test_the_queue_is_asked__system_goes_idle_at_once__is_found(
    plant: Plant, subject: str, beside: set[str]
) -> None:
    story = opening()
    plant(story)
    assert_caught(story, "the_queue_is_asked", subject, beside=beside)
