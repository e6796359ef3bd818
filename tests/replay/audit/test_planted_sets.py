"""The audit finds faults of recipe sets: their labs, unsafe grants, silent labs."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from domain.directory.events import (
    DistroTreeRemoved,
    LabControllerHeard,
    LabControllerRegistered,
    LabControllerSilent,
)
from domain.system.events import SystemDrained
from tests.replay.audit.moves import (
    LAB,
    aborted,
    assigned,
    cancelled,
    condition,
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


def test_no_unsafe_grant__tree_of_another_recipe_left_the_lab__is_found() -> None:
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
