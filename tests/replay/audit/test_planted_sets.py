"""Planted faults of recipe sets, and of recorded reasons."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.replay.audit.moves import (
    aborted,
    assigned,
    cancelled,
    condition,
    grant,
    idle,
    only,
    pending,
    queued,
    start,
)
from tests.replay.audit.planted import assert_caught, opening
from tests.replay.audit.story import Story

Plant = Callable[[Story], None]


def set_in_two_labs(story: Story) -> None:
    story.decide([*grant(5, "b"), *grant(6, "c", "lab-2"), *start(5, "b"), *start(6, "c")])


def assigned_to_another_lab(story: Story) -> None:
    story.decide([*grant(5, "b"), assigned(6, "lab-2")])


def sibling_is_queued(story: Story) -> None:
    story.decide([*grant(5, "b"), queued(6)])


def assigned_beside_nothing(story: Story) -> None:
    story.decide([queued(5), assigned(6)])


@pytest.mark.parametrize(
    ("plant", "beside"),
    [
        (set_in_two_labs, {"usable_grant"}),
        (assigned_to_another_lab, set()),
        (sibling_is_queued, set()),
        (assigned_beside_nothing, set()),
    ],
)
def test_one_lab_per_set__planted_set__is_found(plant: Plant, beside: set[str]) -> None:
    story = opening()
    story.job(5, {5: only("b"), 6: only("a", "c")})
    plant(story)
    assert_caught(story, "one_lab_per_set", "recipe-set/5", beside=beside)


def one_starts_alone(story: Story) -> None:
    story.decide([*grant(5, "b"), assigned(6), *start(5, "b")])


def whole_set_does_not_start(story: Story) -> None:
    story.decide([*grant(5, "b"), *grant(6, "e")])


def starts_in_two_commits(story: Story) -> None:
    story.decide([*grant(5, "b"), *grant(6, "e"), *start(5, "b")])
    story.commit(*start(6, "e"))


def one_is_cancelled_alone(story: Story) -> None:
    story.decide([queued(5), queued(6)])
    story.commit(cancelled(5))


def one_is_aborted_alone(story: Story) -> None:
    story.decide([*grant(5, "b"), assigned(6)])
    story.commit(aborted(5), pending("b"))


@pytest.mark.parametrize(
    "plant",
    [
        one_starts_alone,
        whole_set_does_not_start,
        starts_in_two_commits,
        one_is_cancelled_alone,
        one_is_aborted_alone,
    ],
)
def test_starts_together__planted_set__is_found(plant: Plant) -> None:
    story = opening()
    story.idle("e")
    story.job(5, {5: only("b"), 6: only("e")})
    plant(story)
    assert_caught(story, "starts_together", beside=None)


@pytest.mark.parametrize(
    "plant", [lambda story: story.commit(cancelled(2, "")), lambda story: story.commit(aborted(2, " "))]
)
def test_reasons__recipe_given_up_without_one__is_found(plant: Plant) -> None:
    story = opening()
    plant(story)
    assert_caught(story, "every_unplaced_recipe_has_a_reason", "recipe/2")


def test_reasons__queued_without_one__is_found() -> None:
    story = opening()
    story.job(5, {5: only("a")})
    story.decide([queued(5, "")])
    assert_caught(story, "every_unplaced_recipe_has_a_reason", "recipe/5")


@pytest.mark.parametrize(("reason", "found"), [(None, 1), ("b is Broken", 0)])
def test_reasons__assigned_after_it_lost_its_system__needs_one(reason: str | None, found: int) -> None:
    story = opening()
    story.idle("e")
    story.job(5, {5: only("b"), 6: only("e"), 7: only("a")})
    story.decide([*grant(5, "b"), *grant(6, "e"), assigned(7)])
    story.commit(condition("b", "Broken"), assigned(5, reason=reason), idle("b"))
    assert [violation.subjects for violation in story.violations()] == [("recipe/5",)] * found
