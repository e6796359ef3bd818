"""The audit finds claims that begin without a right, or too early."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from domain.system.events import SystemDrained
from tests.replay.audit.claim_events import (
    busy_lab,
    by_timer,
    claimed,
    pass_ticks,
)
from tests.replay.audit.moves import (
    cancelled,
    configured,
    only,
    place,
    rule,
)
from tests.replay.audit.planted import assert_caught
from tests.replay.audit.story import Story

IN_ORDER, RIGHTFUL = "claims_in_order", "rightful_claims"
Plant = Callable[[Story], None]


def claims_by_timer(story: Story, number: int, ticks: float = 2, fqdn: str = "a") -> None:
    pass_ticks(story, ticks)
    by_timer(story, number, claimed(number, fqdn, forced=False))


def test_claims_in_order__recipe_claims_the_system_that_it_forces__is_sound() -> None:
    story = busy_lab()
    story.batch([claimed(4)])
    assert story.violations() == []


@pytest.mark.parametrize(("ticks", "is_found"), [(0, True), (1.99, True), (2, False), (9, False)])
def test_claims_in_order__claim_by_age__not_before_its_ticks(ticks: float, is_found: bool) -> None:
    story = busy_lab()
    claims_by_timer(story, 2, ticks)
    if is_found:
        assert_caught(story, IN_ORDER, "recipe/2", "system/a")
    else:
        assert story.violations() == []


@pytest.mark.parametrize(
    ("sections", "is_found"),
    [
        ({}, True),
        ({"claims": {"after_ticks": None}}, True),
        ({"claims": {"after_ticks": 0}}, False),
        ({"claims": {"after_ticks": 2}, "weights": {"tick_seconds": 60}}, True),
        ({"claims": {"after_ticks": 4}, "weights": {"tick_seconds": 15}}, False),
    ],
)
def test_claims_in_order__claim_by_age__as_configured(
    sections: dict[str, dict[str, int | None]], is_found: bool
) -> None:
    story = busy_lab(configured(**sections))
    claims_by_timer(story, 2)
    if is_found:
        assert_caught(story, IN_ORDER, "recipe/2", "system/a")
    else:
        assert story.violations() == []


def without_timer(story: Story) -> None:
    pass_ticks(story, 2)
    story.batch([claimed(2, forced=False)])


def by_timer_of_another(story: Story) -> None:
    pass_ticks(story, 2)
    by_timer(story, 3, claimed(2, forced=False))


def called_forced(story: Story) -> None:
    story.batch([claimed(2)])


def called_unforced(story: Story) -> None:
    claims_by_timer(story, 4)


def by_a_person(story: Story) -> None:
    story.commit(claimed(4))


def of_a_finished_recipe(story: Story) -> None:
    story.commit(cancelled(4))
    story.batch([claimed(4)])


def of_a_placed_recipe(story: Story) -> None:
    claims_by_timer(story, 1)


def of_a_new_recipe(story: Story) -> None:
    story.job(5, {5: {"force": "a"}})
    story.batch([claimed(5)])


def of_another_recipe_too(story: Story) -> None:
    story.batch([claimed(4)])
    claims_by_timer(story, 2)


def of_another_system_too(story: Story) -> None:
    story.job(5, {5: only("b")})
    story.batch(place(5, "b"))
    story.queue(6, {6: only("a", "b")})
    claims_by_timer(story, 6)
    by_timer(story, 6, claimed(6, "b", forced=False))


@pytest.mark.parametrize(
    ("plant", "subject"),
    [
        (without_timer, "recipe/2"),
        (by_timer_of_another, "recipe/2"),
        (called_forced, "recipe/2"),
        (called_unforced, "recipe/4"),
        (by_a_person, "recipe/4"),
        (of_a_finished_recipe, "recipe/4"),
        (of_a_placed_recipe, "recipe/1"),
        (of_a_new_recipe, "recipe/5"),
        (of_another_recipe_too, "recipe/2"),
        (of_another_system_too, "recipe/6"),
    ],
)
def test_claims_in_order__planted_claim__is_found(plant: Plant, subject: str) -> None:
    story = busy_lab()
    plant(story)
    assert_caught(story, IN_ORDER, subject, beside={"legal_transitions"})


def of_an_idle_system(story: Story) -> None:
    story.queue(5, {5: {"force": "b"}})
    story.batch([claimed(5, "b")])


def of_a_pending_system(story: Story) -> None:
    story.complete(1, "a")
    story.batch([claimed(4)])


def of_a_drained_system(story: Story) -> None:
    story.commit(("system/a", SystemDrained(reason="fan")))
    story.batch([claimed(4)])


def of_a_set_that_is_held_back(story: Story) -> None:
    story.commit(rule("stop", "PAUSE"))
    story.batch([claimed(4)])


def without_room(story: Story) -> None:
    story.commit(rule("few", "RATE_LIMIT", limit=1))
    claims_by_timer(story, 2)


def past_an_earlier_one(story: Story) -> None:
    story.queue(5, {5: {"force": "a"}}, "Low")
    story.batch([claimed(5)])


@pytest.mark.parametrize(
    ("plant", "subject"),
    [
        (of_an_idle_system, "recipe/5"),
        (of_a_pending_system, "recipe/4"),
        (of_a_drained_system, "recipe/4"),
        (of_a_set_that_is_held_back, "recipe/4"),
        (without_room, "recipe/2"),
        (past_an_earlier_one, "recipe/5"),
    ],
)
def test_rightful_claims__planted_claim__is_found(plant: Plant, subject: str) -> None:
    story = busy_lab()
    plant(story)
    assert_caught(story, RIGHTFUL, subject)


def test_rightful_claims__system_comes_free_after_the_basis__is_sound() -> None:
    story = busy_lab()
    basis = story.end
    story.complete(1, "a")
    story.batch([claimed(4)], basis=basis)
    assert story.violations() == []


def test_rightful_claims__more_urgent_recipe_of_a_later_set__claims_the_system() -> None:
    story = busy_lab()
    story.queue(5, {5: {"force": "a"}}, "High")
    story.batch([claimed(5)])
    assert story.violations() == []
