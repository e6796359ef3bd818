"""The audit finds claims that end without a reason, or too early."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from domain.directory.events import LabControllerDisabled
from tests.replay.audit.claim_events import (
    LOW,
    aged_lab,
    busy_lab,
    by_timer,
    claim_ended,
    claimed,
    claimed_lab,
    pass_ticks,
)
from tests.replay.audit.moves import (
    Pair,
    aborted,
    cancelled,
    idle,
    place,
    rule,
)
from tests.replay.audit.planted import assert_caught
from tests.replay.audit.story import Story

IN_ORDER, RIGHTFUL = "claims_in_order", "rightful_claims"
Plant = Callable[[Story], None]


@pytest.mark.parametrize(("ticks", "is_found"), [(0, True), (2.9, True), (3, False)])
def test_claims_in_order__claim_is_over__not_before_its_ticks(ticks: float, is_found: bool) -> None:
    story = aged_lab()
    pass_ticks(story, ticks)
    by_timer(story, 2, claim_ended(2, "over"))
    if is_found:
        assert_caught(story, IN_ORDER, "recipe/2", "system/a")
    else:
        assert story.violations() == []


@pytest.mark.parametrize("end", [cancelled, aborted])
def test_claims_in_order__claimant_is_given_up__its_claim_ends(end: Callable[[int], Pair]) -> None:
    story = busy_lab()
    story.batch([claimed(4)])
    story.commit(claim_ended(4, "ended"), end(4))
    assert story.violations() == []


def test_claims_in_order__another_recipe_forces_the_system__ends_a_claim_by_age() -> None:
    story = aged_lab()
    story.batch([claim_ended(2, "ended"), claimed(4)])
    assert story.violations() == []


def ended_while_it_waits(story: Story) -> None:
    story.batch([claim_ended(4, "ended")])


def left_by_a_cancelled_recipe(story: Story) -> None:
    story.commit(cancelled(4))


def over_by_force(story: Story) -> None:
    pass_ticks(story, 500)
    by_timer(story, 4, claim_ended(4, "over"))


def over_without_timer(story: Story) -> None:
    pass_ticks(story, 500)
    story.batch([claim_ended(4, "over")])


def replaced_though_forced(story: Story) -> None:
    story.queue(5, {5: {"force": "a"}}, "High")
    story.batch([claim_ended(4, "ended"), claimed(5)])


def served_without_a_grant(story: Story) -> None:
    story.batch([claim_ended(4, "served")])


def of_another_system(story: Story) -> None:
    story.batch([claim_ended(4, "system away", "b")])


def of_another_recipe(story: Story) -> None:
    story.batch([claim_ended(3, "system away")])


def for_an_unknown_reason(story: Story) -> None:
    story.batch([claim_ended(4, "why not")])


@pytest.mark.parametrize(
    ("plant", "subject"),
    [
        (ended_while_it_waits, "recipe/4"),
        (left_by_a_cancelled_recipe, "recipe/4"),
        (over_by_force, "recipe/4"),
        (over_without_timer, "recipe/4"),
        (replaced_though_forced, "recipe/4"),
        (served_without_a_grant, "recipe/4"),
        (of_another_system, "recipe/4"),
        (of_another_recipe, "recipe/3"),
        (for_an_unknown_reason, "recipe/4"),
    ],
)
def test_claims_in_order__planted_end__is_found(plant: Plant, subject: str) -> None:
    story = busy_lab()
    story.batch([claimed(4)])
    plant(story)
    assert_caught(story, IN_ORDER, subject, beside={RIGHTFUL})


def test_claims_in_order__person_ends_a_claim_without_the_recipe__is_found() -> None:
    story = busy_lab()
    story.batch([claimed(4)])
    story.commit(claim_ended(4, "system away"))
    assert_caught(story, IN_ORDER, "recipe/4")


def without_an_end(story: Story) -> None:
    story.batch(place(4, "a"))


def ended_for_another_reason(story: Story) -> None:
    story.batch([claim_ended(4, "no room"), *place(4, "a")])


def served_after_the_grant(story: Story) -> None:
    story.batch([*place(4, "a"), claim_ended(4, "served")])


@pytest.mark.parametrize("plant", [without_an_end, ended_for_another_reason, served_after_the_grant])
def test_claims_in_order__planted_grant__is_found(plant: Plant) -> None:
    story = claimed_lab()
    plant(story)
    assert_caught(story, IN_ORDER, "recipe/4", beside={RIGHTFUL, "nobody_jumped"})


def away(story: Story) -> None:
    story.batch([claim_ended(4, "system away")])


def no_room(story: Story) -> None:
    story.batch([claim_ended(4, "no room"), *place(2, "a")])


@pytest.mark.parametrize(
    ("plant", "right"),
    [
        (away, [("lab-controller/lab-1", LabControllerDisabled())]),
        (no_room, [rule("stop", "PAUSE", predicate=LOW)]),
        (
            no_room,
            [rule("few", "RATE_LIMIT", limit=0, predicate=LOW)],
        ),
    ],
)
def test_rightful_claims__claim_ends_with_the_right_to_the_system__is_found_without(
    plant: Plant, right: list[Pair]
) -> None:
    story = claimed_lab()
    plant(story)
    assert_caught(story, RIGHTFUL, "recipe/4", "system/a")
    story = claimed_lab()
    story.commit(*right)
    plant(story)
    assert story.violations() == []


def test_rightful_claims__system_becomes_idle_while_its_claimant_has_no_room__claim_must_end() -> None:
    for ends in (True, False):
        story = claimed_lab()
        story.commit(rule("stop", "PAUSE"))
        story.batch([*([claim_ended(4, "no room")] if ends else []), idle("a")])
        if ends:
            assert story.violations() == []
        else:
            assert_caught(story, RIGHTFUL, "recipe/4", "system/a")


def test_rightful_claims__claim_ends_without_room_while_the_system_is_busy__is_found() -> None:
    story = busy_lab()
    story.batch([claimed(4)])
    story.commit(rule("stop", "PAUSE"))
    story.batch([claim_ended(4, "no room")])
    assert_caught(story, RIGHTFUL, "recipe/4", "system/a")
