"""The audit finds grants past the claimant of a system, and follows claimants in the order of room."""

from __future__ import annotations

import pytest

from tests.replay.audit.claim_events import (
    CLAIM_SETTINGS,
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
    assigned,
    configured,
    grant,
    idle,
    only,
    pending,
    place,
    rule,
)
from tests.replay.audit.planted import assert_caught
from tests.replay.audit.story import Story

JUMPED = "nobody_jumped"


def served(number: int, fqdn: str = "a", claimed_system: str = "a") -> list[Pair]:
    return [claim_ended(number, "served", claimed_system), *place(number, fqdn)]


def test_nobody_jumped__claimant_of_low_priority__comes_before_all() -> None:
    story = claimed_lab()
    story.batch(served(4))
    assert story.violations() == []


def test_nobody_jumped__claim_passed_over__is_found() -> None:
    story = claimed_lab()
    story.batch(place(2, "a"))
    assert_caught(story, JUMPED, "recipe/2", "recipe/4", "system/a")
    assert any(each.what.startswith("claim passed over") for each in story.violations())


def test_nobody_jumped__recipe_without_a_claim__does_not_come_first() -> None:
    story = busy_lab()
    story.complete(1, "a")
    story.batch(place(4, "a"))
    assert_caught(story, JUMPED, "recipe/4", "recipe/2", "system/a")


@pytest.mark.parametrize("policy", [6, 7])
def test_nobody_jumped__decision_of_an_earlier_policy__knows_no_claims(policy: int) -> None:
    story = claimed_lab()
    story.batch(place(2, "a"), policy=policy)
    assert story.violations() == []


def test_nobody_jumped__claimant_is_held_back__the_order_applies() -> None:
    story = claimed_lab()
    story.commit(rule("stop", "PAUSE", predicate=LOW))
    story.batch([claim_ended(4, "no room"), *place(2, "a")])
    assert story.violations() == []


def test_nobody_jumped__claimant_gets_another_system__the_order_applies_there() -> None:
    story = aged_lab()
    story.queue(5, {5: only("b", "a")}, "Urgent")
    pass_ticks(story, 1)
    story.commit(pending("b"))
    story.batch(place(5, "b"))
    assert story.violations() == []


def test_nobody_jumped__grant_to_the_claimant_is_unsafe__the_order_applies_and_the_claim_remains() -> None:
    """Recipe 6 needs a and b, and holds b; the claimant 7 needs a and b, too."""
    story = busy_lab()
    story.job(6, {6: only("b"), 8: only("a")}, "Low")
    story.batch([*grant(6, "b"), assigned(8)])
    story.queue(7, {7: only("a"), 9: only("b")}, "High")
    pass_ticks(story, 2)
    by_timer(story, 7, claimed(7, forced=False))
    story.complete(1, "a")
    story.batch(place(2, "a"))
    assert story.violations() == []


def test_nobody_overlooked__system_idle_beside_its_claimant__is_found() -> None:
    story = busy_lab()
    story.commit(rule("stop", "PAUSE", predicate={"field": "priority", "op": "!=", "value": "Low"}))
    story.batch([claimed(4)])
    story.complete(1, "a")
    story.batch([idle("a")])
    assert_caught(story, "nobody_overlooked", "recipe/4", "system/a")


# The order of room


def two_pending(claimant: bool) -> Story:
    """Return a story with room for one: a and b are pending; the Urgent recipe 6 wants b, as does 7, Low."""
    story = busy_lab(configured(claims=CLAIM_SETTINGS, limits={"placed_recipes": 2}))
    story.job(5, {5: only("b")})
    story.batch(place(5, "b"))
    story.queue(6, {6: only("b")}, "Urgent")
    story.queue(7, {7: {"force": "b"}}, "Low")
    if claimant:
        story.batch([claimed(7, "b")])
    story.complete(1, "a")
    story.commit(configured(claims=CLAIM_SETTINGS, limits={"placed_recipes": 1}))
    story.complete(5, "b")
    return story


@pytest.mark.parametrize("claimant", [True, False])
def test_no_room_jumped__first_on_another_system__is_its_claimant(claimant: bool) -> None:
    """Recipe 6 is before 3, which gets the room, but is not first on b if 7 claims b."""
    story = two_pending(claimant)
    story.priority(2, "Low")
    story.batch(place(3, "a"))
    if claimant:
        assert story.violations() == []
    else:
        assert_caught(story, "no_room_jumped", "recipe/3", "recipe/6", "system/b")


def test_no_room_jumped__claimant_takes_the_last_room_past_a_set_before_it__is_found() -> None:
    story = two_pending(claimant=True)
    story.batch(served(7, "b", "b"))
    assert_caught(story, "no_room_jumped", "recipe/7", "recipe/2", "system/a")
