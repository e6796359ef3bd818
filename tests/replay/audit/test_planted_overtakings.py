"""Overtakings that were not counted, or counted wrongly, and owed sets that were passed over."""

from __future__ import annotations

from typing import Any

import pytest

from domain.events import Batch
from tests.replay.audit.moves import Pair, assigned, cancelled, configured, grant, only, place, start
from tests.replay.audit.planted import assert_caught, opening
from tests.replay.audit.story import Story

COUNTED = "counted_overtaking"


def lab(**order: Any) -> Story:
    """Return a story: recipe 11 waits for b; then sets 21 and 31 hold d and e, and 22 and 32 wait for b."""
    story = opening()
    story.commit(cancelled(2))
    story.idle("d", "e")
    if order:
        story.commit(configured(order=order))
    story.job(20, {20: only("b")})
    story.decide(place(20, "b"))
    story.queue(11, {11: only("b")})
    for number, fqdn in ((21, "d"), (31, "e")):
        story.job(number, {number: only(fqdn), number + 1: only("b")})
        batch(story, [*grant(number, fqdn), assigned(number + 1)])
    story.complete(20, "b")
    return story


def batch(story: Story, decision: list[Pair], policy: int = 6) -> None:
    story.decide(decision, policy=policy, batch=Batch(story.end, story.end, None))


def takes_b(story: Story, number: int, fqdn: str, overtook: int | None = None, policy: int = 6) -> Story:
    """Give b to the second recipe of a set that holds another system."""
    grants = grant(number, "b", overtook=overtook)
    batch(story, [*grants, *start(number - 1, fqdn), *start(number, "b")], policy)
    return story


def test_counted_overtaking__names_first_recipe_of_an_earlier_set__is_sound() -> None:
    assert takes_b(lab(), 22, "d", 11).violations() == []


def test_counted_overtaking__names_nobody__is_found() -> None:
    assert_caught(takes_b(lab(), 22, "d"), COUNTED, "recipe/22", "recipe/11", "system/b")


@pytest.mark.parametrize("number", [21, 32])
def test_counted_overtaking__names_another_recipe__is_found(number: int) -> None:
    assert_caught(takes_b(lab(), 22, "d", number), COUNTED, "recipe/22", "recipe/11", f"recipe/{number}")


def test_counted_overtaking__names_a_recipe_without_a_bound__is_found() -> None:
    assert takes_b(lab(most_overtaken=None), 22, "d").violations() == []
    assert_caught(takes_b(lab(most_overtaken=None), 22, "d", 11), COUNTED, "recipe/22", "recipe/11")


def test_counted_overtaking__recipe_of_lower_priority_or_later_set__is_not_overtaken() -> None:
    for change in ("lower", "later"):
        story = lab()
        if change == "lower":
            story.priority(11, "Low")
        else:
            story.commit(cancelled(11))
            story.queue(41, {41: only("b")})
        assert takes_b(story, 22, "d").violations() == []


def test_counted_overtaking__grant_to_a_queued_recipe__overtakes_nobody() -> None:
    story = opening()
    story.complete(1, "a")
    granted = grant(2, "a", overtook=2)
    batch(story, [*granted, *start(2, "a")])
    assert_caught(story, COUNTED, "recipe/2")


@pytest.mark.parametrize(("limit", "named"), [(9, 11), (4, None)])
def test_counted_overtaking__recipe_of_a_limited_set__is_named_if_the_set_has_room(
    limit: int, named: int | None
) -> None:
    def story() -> Story:
        story = lab()
        story.commit(configured(limits={"placed_recipes": limit}))
        return story

    assert takes_b(story(), 22, "d", named).violations() == []
    assert_caught(takes_b(story(), 22, "d", None if named else 11), COUNTED, "recipe/22", "recipe/11")


def test_counted_overtaking__policy_without_counts__nobody_is_named() -> None:
    assert takes_b(lab(), 22, "d", policy=5).violations() == []


@pytest.mark.parametrize("assigned_first", ["within_priority", "always"])
def test_nobody_jumped__owed_recipe_passed_over__is_found(assigned_first: str) -> None:
    order = {"assigned_first": assigned_first, "most_overtaken": 1}
    story = takes_b(lab(**order), 22, "d", 11)
    story.complete(22, "b")
    assert_caught(takes_b(story, 32, "e"), "nobody_jumped", "recipe/32", "recipe/11", beside=[COUNTED])
    story = takes_b(lab(**order), 22, "d", 11)
    story.complete(22, "b")
    batch(story, place(11, "b"))
    assert story.violations() == []


def test_nobody_jumped__overtaken_less_often_than_the_bound__assigned_recipe_goes_first() -> None:
    story = takes_b(lab(most_overtaken=2), 22, "d", 11)
    story.complete(22, "b")
    assert takes_b(story, 32, "e", 11).violations() == []


def test_nobody_jumped__bound_raised_after_the_overtaking__assigned_recipe_goes_first() -> None:
    story = takes_b(lab(most_overtaken=1), 22, "d", 11)
    story.commit(configured(order={"most_overtaken": 2}))
    story.complete(22, "b")
    assert takes_b(story, 32, "e", 11).violations() == []


def test_nobody_jumped__earlier_bound_recipe__comes_before_an_owed_one() -> None:
    story = opening()
    story.commit(cancelled(2))
    story.idle("d", "e")
    story.commit(configured(order={"most_overtaken": 0}))
    story.job(20, {20: only("b")})
    story.decide(place(20, "b"))
    story.job(21, {21: only("d"), 22: only("b")})
    batch(story, [*grant(21, "d"), assigned(22)])
    story.queue(30, {30: only("b")})
    story.complete(20, "b")
    assert takes_b(story, 22, "d").violations() == []
