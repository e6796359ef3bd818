"""Room under limits: grants without it, out of its order, or past a set that could have had it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any

import pytest

from domain.directory.events import PartitionJobFilterRemoved
from tests.replay.audit.moves import (
    Pair,
    assigned,
    cancelled,
    configured,
    grant,
    idle,
    only,
    pending,
    place,
    queued,
    rule,
    start,
)
from tests.replay.audit.planted import assert_caught, opening
from tests.replay.audit.story import Story

ADMITTED, JUMPED = "admitted", "no_room_jumped"
K_TICKS = timedelta(minutes=15)
BUCKET = "rate-limit:1:array"


def lab(*limits: Pair, reasons: Sequence[str] = ()) -> Story:
    """Return a story: recipe 3 waits on a, under these limits; b, d and, in lab-2, c are idle."""
    story = opening()
    story.commit(cancelled(2), cancelled(1), pending("a"))
    story.decide([idle("a")])
    story.idle("d")
    if limits:
        story.commit(*limits)
    story.job(3, {3: only("a")}, submitted={"reasons": reasons})
    story.batch(place(3, "a"))
    return story


def limit(count: int, **document: Any) -> Pair:
    return rule("few", "RATE_LIMIT", limit=count, **document)


def placed(count: int) -> Pair:
    return configured(limits={"placed_recipes": count})


def wants(
    story: Story, number: int, *names: str, priority: str = "Normal", reasons: Sequence[str] = ()
) -> None:
    """Queue a set of a recipe for each of these systems, numbered from `number`."""
    recipes = {number + offset: only(name) for offset, name in enumerate(names)}
    story.job(number, recipes, priority, submitted={"reasons": reasons})
    story.batch([queued(each, "no room") for each in recipes])


def passes_k_ticks(story: Story) -> None:
    story.now += K_TICKS
    story.recorded_at += K_TICKS


def sound(story: Story) -> None:
    assert list(map(str, story.violations())) == []


# Room for a first grant


@pytest.mark.parametrize(
    ("limits", "reasons", "new", "has_room"),
    [
        ([limit(1)], (), (), False),
        ([limit(2)], (), (), True),
        ([limit(1, predicate={"field": "job_id", "op": "=", "value": 5})], (), (), True),
        ([rule("first", "ACCEPT", priority=-1), limit(1)], (), (), True),
        ([rule("first", "CONTINUE", priority=-1), limit(1)], (), (), False),
        ([placed(1)], (), (), False),
        ([placed(2)], (), (), True),
        ([limit(2), placed(1)], (), (), False),
        ([limit(1), placed(2)], (), (), False),
        ([], (BUCKET,), (BUCKET,), False),
        ([], (BUCKET,), ("rate-limit:2:array",), True),
        ([], (BUCKET,), ("rate-limit:1:disk",), True),
        ([], (BUCKET, "rate-limit:1:disk"), ("note", "rate-limit:1:disk"), False),
        ([], ("Rate-limit:1:array",), ("Rate-limit:1:array",), True),
        ([], ("rate-limit:0:array",), ("rate-limit:0:array",), True),
        ([], (" rate-limit:1:array",), (" rate-limit:1:array",), True),
        ([limit(2)], (BUCKET,), (BUCKET,), False),
    ],
)
def test_admitted__first_grant_under_limits__is_found_without_room(
    limits: list[Pair], reasons: Sequence[str], new: Sequence[str], has_room: bool
) -> None:
    story = lab(*limits, reasons=reasons)
    story.job(5, {5: only("b")}, submitted={"reasons": new})
    story.batch(place(5, "b"))
    if has_room:
        sound(story)
    else:
        assert_caught(story, ADMITTED, "recipe/5", "recipe-set/5", "system/b")


@pytest.mark.parametrize(("count", "has_room"), [(3, True), (2, False)])
def test_admitted__placed_recipes__all_hosts_of_the_set_count(count: int, has_room: bool) -> None:
    story = lab(placed(count))
    story.job(5, {5: only("b"), 6: only("d")}, guests={7: 6})
    story.batch([*grant(5, "b"), assigned(6), assigned(7)])
    if has_room:
        sound(story)
    else:
        assert_caught(story, ADMITTED, "recipe/5", "recipe-set/5")


@pytest.mark.parametrize("ended", [1, 2])
def test_admitted__placed_set_of_two__is_charged_until_its_last_recipe_ends(ended: int) -> None:
    story = lab(placed(3))
    story.job(5, {5: only("b"), 6: only("d")})
    story.batch([*grant(5, "b"), assigned(6), *grant(6, "d"), *start(5, "b"), *start(6, "d")])
    wants(story, 8, "b")
    for number, fqdn in [(5, "b"), (6, "d")][:ended]:
        story.complete(number, fqdn)
    story.batch(place(8, "b"))
    if ended == 2:
        sound(story)
    else:
        assert_caught(story, ADMITTED, "recipe/8")


def test_admitted__limit_falls_after_the_first_grant__only_other_sets_are_stopped() -> None:
    story = lab(limit(2))
    story.job(5, {5: only("b"), 6: only("d")})
    story.batch([*grant(5, "b"), assigned(6)])
    story.commit(limit(1))
    story.batch([*grant(6, "d"), *start(5, "b"), *start(6, "d")])
    sound(story)


@pytest.mark.parametrize(
    "change", [cancelled(3), ("partition/default", PartitionJobFilterRemoved("few")), limit(2)]
)
def test_admitted__room_comes_free__is_sound(change: Pair) -> None:
    story = lab(limit(1))
    story.commit(change, *([pending("a")] if change[0] == "recipe/3" else []))
    story.job(5, {5: only("b")})
    story.batch(place(5, "b"))
    sound(story)


def test_admitted__priority_of_a_placed_set_changes__the_rule_that_applies_now_counts() -> None:
    urgent = {"field": "priority", "op": "=", "value": "Urgent"}
    for priority in ("High", "Urgent"):
        story = lab(limit(1, predicate=urgent))
        story.priority(3, priority)
        story.job(5, {5: only("b")}, "Urgent")
        story.batch(place(5, "b"))
        if priority == "Urgent":
            assert_caught(story, ADMITTED, "recipe/5")
        else:
            sound(story)


# Room that is kept


def larger_set_waits(aged: bool, count: int = 2, second: str = "d", priority: str = "Normal") -> Story:
    """Return a story: a set that needs room for two waits beside room for one; recipe 8 then wants b."""
    story = lab(placed(count))
    wants(story, 5, "b", second, priority=priority)
    if aged:
        passes_k_ticks(story)
    story.job(8, {8: only("b")})
    return story


def test_admitted__room_is_kept_for_a_larger_set__is_found() -> None:
    story = larger_set_waits(aged=True)
    story.batch(place(8, "b"))
    assert_caught(story, ADMITTED, "recipe/8", "recipe-set/8")


@pytest.mark.parametrize(
    "story",
    [
        lambda: larger_set_waits(aged=False),
        # Set 5 comes later in the order of room, or its second system can never be had.
        lambda: larger_set_waits(aged=True, priority="Low"),
        lambda: larger_set_waits(aged=True, second="m"),
    ],
)
def test_admitted__room_is_not_kept__is_sound(story: Callable[[], Story]) -> None:
    made = story()
    made.batch(place(8, "b"))
    sound(made)


def test_admitted__set_needs_more_than_the_limit__no_room_is_kept_for_it() -> None:
    story = lab(placed(2))
    story.job(5, {5: only("b"), 6: only("d"), 7: only("a")})
    story.batch([queued(5), queued(6), queued(7)])
    passes_k_ticks(story)
    story.job(8, {8: only("b")})
    story.batch(place(8, "b"))
    sound(story)


def test_nobody_overlooked__room_is_kept__is_sound() -> None:
    for aged in (True, False):
        story = larger_set_waits(aged)
        story.batch([queued(8, "no room")])
        story.commit(pending("b"))
        story.batch([idle("b")])
        if aged:
            sound(story)
        else:
            assert_caught(story, "nobody_overlooked", "recipe/8", "system/b")


# The order of room


def two_want_room(
    *limits: Pair, low: str = "a", high: str = "b", priorities: Sequence[str] = ("Low", "High"), **sets: Any
) -> Story:
    """Return a story: recipes 5 and 6 lack room; then recipe 3 ends, and a is pending."""
    story = lab(*limits or [limit(1)])
    wants(story, 5, low, priority=priorities[0], **sets)
    wants(story, 6, high, priority=priorities[1], **sets)
    story.complete(3, "a")
    return story


def test_no_room_jumped__set_before_it_could_have_an_idle_system__is_found() -> None:
    story = two_want_room()
    story.batch(place(5, "a"))
    assert_caught(story, JUMPED, "recipe/5", "system/a", "recipe-set/6", "recipe/6", "system/b")
    story = two_want_room()
    story.batch([*place(6, "b"), idle("a")])
    sound(story)


@pytest.mark.parametrize(
    ("story", "is_sound"),
    [
        (lambda: two_want_room(limit(2)), True),
        (lambda: two_want_room(high="m"), True),
        (lambda: two_want_room(priorities=("High", "Low")), True),
        # At equal priority the earlier submission comes first.
        (lambda: two_want_room(priorities=("Low", "Low")), True),
        (lambda: two_want_room(placed(1)), False),
        (lambda: two_want_room(limit(9), placed(1)), False),
    ],
)
def test_no_room_jumped__low_gets_the_room__is_found_if_high_lacks_only_this(
    story: Callable[[], Story], is_sound: bool
) -> None:
    made = story()
    made.batch(place(5, "a"))
    if is_sound:
        sound(made)
    else:
        assert_caught(made, JUMPED, "recipe/5", "recipe/6", "system/b")


def test_no_room_jumped__set_before_it_is_paused__is_sound() -> None:
    story = two_want_room()
    high: Mapping[str, Any] = {"field": "priority", "op": "=", "value": "High"}
    story.commit(rule("stop", "PAUSE", priority=-1, predicate=high))
    story.batch(place(5, "a"))
    sound(story)


def test_no_room_jumped__set_before_it_lacks_other_room__is_sound() -> None:
    story = opening()
    story.commit(cancelled(2))
    story.commit(limit(2))
    story.idle("d")
    story.job(3, {3: only("d")}, submitted={"reasons": [BUCKET]})
    story.batch(place(3, "d"))
    wants(story, 5, "a", priority="Low")
    wants(story, 6, "b", priority="High", reasons=[BUCKET])
    story.complete(1, "a")
    story.batch(place(5, "a"))
    sound(story)


def test_no_room_jumped__set_before_it_could_have_a_pending_system__is_found_if_it_is_first_there() -> None:
    free = {"field": "job_id", "op": "!=", "value": 7}
    for is_first in (True, False):
        story = two_want_room(limit(1, predicate=free))
        story.commit(pending("b"))
        if not is_first:
            wants(story, 7, "b", priority="Urgent")
        story.batch(place(5, "a"))
        if is_first:
            assert_caught(story, JUMPED, "recipe/5", "recipe/6", "system/b")
        else:
            sound(story)


def test_no_room_jumped__weight_comes_before_submission__is_found() -> None:
    heavy = {"network": {"Exclusive": ["x"]}}
    story = lab(limit(2))
    story.job(4, {4: only("d")}, locks=heavy)
    story.batch(place(4, "d", locks=heavy))
    story.job(5, {5: only("a")}, locks=heavy)
    story.batch([queued(5)])
    wants(story, 6, "b")
    story.complete(3, "a")
    story.batch(place(5, "a", locks=None))
    assert_caught(story, JUMPED, "recipe/5", "recipe/6", "system/b")


# The order of the systems


@pytest.mark.parametrize("count", [2, 1])
def test_nobody_jumped__limited_set_passed_over__is_found_if_it_has_room(count: int) -> None:
    story = lab(limit(count, predicate={"field": "priority", "op": "=", "value": "High"}))
    story.priority(3, "High")
    wants(story, 5, "d", priority="High")
    story.job(6, {6: only("d")})
    story.batch(place(6, "d"))
    if count == 1:
        sound(story)
    else:
        assert_caught(story, "nobody_jumped", "recipe/6", "recipe/5", "system/d")


@pytest.mark.parametrize("count", [2, 1])
def test_nobody_overlooked__limited_set_could_take_the_system__is_found_if_it_has_room(count: int) -> None:
    story = lab(limit(count))
    wants(story, 5, "d")
    story.commit(pending("d"))
    story.batch([idle("d")])
    if count == 1:
        sound(story)
    else:
        assert_caught(story, "nobody_overlooked", "recipe/5", "system/d")


@pytest.mark.parametrize(("count", "overlooked"), [(2, ["room_overlooked"]), (1, [])])
def test_at_rest__limited_set_beside_an_idle_system__is_overlooked_if_it_has_room(
    count: int, overlooked: list[str]
) -> None:
    story = lab(limit(count))
    wants(story, 5, "d")
    assert [one.invariant for one in story.at_rest()] == overlooked
