"""Planted grants in labs whose controller is silent, or has never reported."""

from __future__ import annotations

import pytest

from domain.directory.events import LabControllerHeard, LabControllerRegistered, LabControllerSilent
from tests.replay.audit.moves import LAB, assigned, grant, only, place, queued
from tests.replay.audit.planted import assert_caught, opening
from tests.replay.audit.story import Story

LAB_SUBJECT = f"lab-controller/{LAB}"


def place_3(story: Story, policy: int) -> None:
    """Place a recipe that only the idle b can run."""
    story.job(3, {3: only("b")})
    story.decide(place(3, "b"), policy=policy)


def test_usable_grant__lab_is_silent__is_found() -> None:
    story = opening()
    story.commit((LAB_SUBJECT, LabControllerSilent()))
    place_3(story, policy=5)
    assert_caught(story, "usable_grant", "recipe/3")


def test_usable_grant__lab_is_silent_before_version_5__no_violation() -> None:
    story = opening()
    story.commit((LAB_SUBJECT, LabControllerSilent()))
    place_3(story, policy=4)
    assert story.violations() == []


def test_usable_grant__lab_is_heard_again__no_violation() -> None:
    story = opening()
    story.commit((LAB_SUBJECT, LabControllerSilent()))
    story.commit((LAB_SUBJECT, LabControllerHeard()))
    place_3(story, policy=5)
    assert story.violations() == []


@pytest.mark.parametrize("is_silent", [True, False])
def test_usable_grant__lab_was_never_heard__is_found_if_it_had_to_be(is_silent: bool) -> None:
    story = Story()
    story.commit((LAB_SUBJECT, LabControllerRegistered(enabled=True, silent=is_silent)))
    story.tree(1, LAB)
    story.idle("a")
    story.job(1, {1: only("a")})
    story.decide(place(1, "a"), policy=5)
    if is_silent:
        assert_caught(story, "usable_grant", "recipe/1")
    else:
        assert story.violations() == []


def test_at_rest__lab_is_silent__nobody_is_owed_its_systems() -> None:
    story = opening()
    story.commit((LAB_SUBJECT, LabControllerSilent()))
    story.job(3, {3: only("b")})
    story.decide([queued(3)], policy=5)
    assert story.violations() == [] == story.at_rest()


def test_at_rest__set_holds_a_system_of_a_silent_lab__is_stuck() -> None:
    story = opening()
    story.job(3, {3: only("b"), 4: only("a")})
    story.decide([*grant(3, "b"), assigned(4)], policy=5)
    story.commit((LAB_SUBJECT, LabControllerSilent()))
    assert "no_holder_stuck" in {one.invariant for one in story.at_rest()}


def test_at_rest__lab_is_heard_and_nobody_asked__is_a_lost_wake_up() -> None:
    story = opening()
    story.commit((LAB_SUBJECT, LabControllerSilent()))
    story.job(3, {3: only("b")})
    story.decide([queued(3)], policy=5)
    story.commit((LAB_SUBJECT, LabControllerHeard()))
    assert "no_idle_system_wanted" in {one.invariant for one in story.at_rest()}
