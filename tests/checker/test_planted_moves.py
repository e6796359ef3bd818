"""Faults planted in what recipes, systems and sets go through; each is found, and called by its name."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from domain.recipe import events as recipe
from domain.system import events as system
from tests.checker.story import (
    Story,
    aborted,
    assigned,
    cancelled,
    caught,
    condition,
    grant,
    idle,
    only,
    opening,
    pending,
    place,
    queued,
    scheduled,
    start,
    step,
    waiting,
)

Plant = Callable[[Story], None]


def finished_recipe_changes(story: Story) -> None:
    story.complete(1, "a")
    story.commit(("recipe/1", recipe.WatchdogSet(seconds=60)))


def recipe_skips_a_state(story: Story) -> None:
    story.commit(*step(1, "a", "running"))


def recipe_begins_twice(story: Story) -> None:
    story.job(1, {1: only("a")})


def recipe_was_never_new(story: Story) -> None:
    story.commit(queued(77))


def system_skips_pending(story: Story) -> None:
    story.commit(pending("b"))
    story.commit(pending("b"))


def system_passes_from_recipe_to_recipe(story: Story) -> None:
    story.commit(("system/a", system.SystemInstalling(recipe_id=2)))


def system_runs_for_a_recipe_at_once(story: Story) -> None:
    story.commit(("system/b", system.SystemRunning(recipe_id=2)))


def version_is_left_out(story: Story) -> None:
    story._versions["recipe/1"] += 1
    story.progress(1, "a", "installing")


@pytest.mark.parametrize(
    ("plant", "subject", "beside"),
    [
        (finished_recipe_changes, "recipe/1", set()),
        (recipe_skips_a_state, "recipe/1", set()),
        (recipe_begins_twice, "recipe/1", {"in_step"}),
        (recipe_was_never_new, "recipe/77", set()),
        (system_skips_pending, "system/b", set()),
        (system_passes_from_recipe_to_recipe, "system/a", {"in_step"}),
        (system_runs_for_a_recipe_at_once, "system/b", {"in_step"}),
        (version_is_left_out, "recipe/1", set()),
    ],
)
def test_legal_transitions__planted_move__is_found(plant: Plant, subject: str, beside: set[str]) -> None:
    story = opening()
    plant(story)
    caught(story, "legal_transitions", subject, beside=beside)


def test_one_recipe_per_system__second_recipe_on_it__is_found() -> None:
    story = opening()
    story.commit(condition("a", "Automated"))
    story.decide([*place(2, "a")])
    beside = {"legal_transitions", "in_step", "usable_grant"}
    caught(story, "one_recipe_per_system", "recipe/1", "recipe/2", "system/a", beside=beside)


def test_one_recipe_per_system__guest_elsewhere__is_found() -> None:
    story = opening()
    story.job(5, {5: only("b")}, guests={6: 5})
    story.decide([*place(5, "b"), scheduled(6, "a"), waiting(6, "a")])
    caught(story, "one_recipe_per_system", "recipe/5", "recipe/6")


def system_is_left_behind(story: Story) -> None:
    story.commit(("recipe/1", recipe.RecipeInstalling(system="a")))


def recipe_is_left_behind(story: Story) -> None:
    story.commit(cancelled(1))


def system_is_freed_alone(story: Story) -> None:
    story.commit(pending("a"))


def recipe_reports_from_elsewhere(story: Story) -> None:
    story.commit(
        ("recipe/1", recipe.RecipeInstalling(system="b")),
        ("system/a", system.SystemInstalling(recipe_id=1)),
    )


def person_has_what_is_idle(story: Story) -> None:
    story.commit(
        ("system/m", system.SystemReservationBegun(user="ada", until=None, distro_tree_id=None)),
    )


def nobody_has_what_runs(story: Story) -> None:
    story.commit(("system/m", system.SystemRunning(recipe_id=None)))


def drained_system_is_pending(story: Story) -> None:
    story.commit(("system/b", system.SystemDrained(reason="fan")), pending("b"))


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
    caught(story, "in_step", subject)


def test_in_step__guest_is_not_queued_with_its_host__is_found() -> None:
    story = opening()
    story.job(5, {5: only("a")}, guests={6: 5})
    story.decide([queued(5)])
    caught(story, "in_step", "recipe/5", "recipe/6")


def test_in_step__guest_outlives_its_host__is_found() -> None:
    story = opening()
    story.job(5, {5: only("b")}, guests={6: 5})
    story.decide([*place(5, "b"), scheduled(6, "b"), waiting(6, "b")])
    story.complete(5, "b")
    caught(story, "in_step", "recipe/5", "recipe/6")


def freed_system_goes_idle(story: Story) -> None:
    story.commit(cancelled(1), idle("a"))


def repaired_system_stays_idle(story: Story) -> None:
    story.commit(condition("b", "Broken"))
    story.commit(condition("b", "Automated"))


def undrained_system_stays_idle(story: Story) -> None:
    story.commit(("system/b", system.SystemDrained(reason="fan")))
    story.commit(("system/b", system.SystemUndrained()))


def added_system_stays_idle(story: Story) -> None:
    story.commit(("system/b", system.SystemRegistered("lab-1", "ada", "Automated", {})))


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
    caught(story, "the_queue_is_asked", subject, beside=beside)


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
    found = {"one_lab_per_set", "no_unsafe_grant", "usable_grant"}
    assert {violation.invariant for violation in story.violations()} <= found
    caught(story, "one_lab_per_set", "recipe-set/5", beside=None)


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
    caught(story, "starts_together", beside=None)


@pytest.mark.parametrize(
    "plant", [lambda story: story.commit(cancelled(2, "")), lambda story: story.commit(aborted(2, " "))]
)
def test_reasons__recipe_given_up_without_one__is_found(plant: Plant) -> None:
    story = opening()
    plant(story)
    caught(story, "every_unplaced_recipe_has_a_reason", "recipe/2")


def test_reasons__queued_without_one__is_found() -> None:
    story = opening()
    story.job(5, {5: only("a")})
    story.decide([queued(5, "")])
    caught(story, "every_unplaced_recipe_has_a_reason", "recipe/5")


@pytest.mark.parametrize(("reason", "found"), [(None, 1), ("b is Broken", 0)])
def test_reasons__assigned_after_it_lost_its_system__needs_one(reason: str | None, found: int) -> None:
    story = opening()
    story.idle("e")
    story.job(5, {5: only("b"), 6: only("e"), 7: only("a")})
    story.decide([*grant(5, "b"), *grant(6, "e"), assigned(7)])
    story.commit(condition("b", "Broken"), assigned(5, reason=reason), idle("b"))
    assert [violation.subjects for violation in story.violations()] == [("recipe/5",)] * found
