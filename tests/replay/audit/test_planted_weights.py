"""Queue jumps by weight (seed 001): all of them are found, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from domain.contention.algebra import conflicts, held
from domain.contention.documents import locks_from_json, locks_to_json, stored_locks
from domain.contention.locks import LEVELS
from domain.recipe.events import RecipeNew, RecipeWaiting
from tests.replay.audit.access_events import into_pool
from tests.replay.audit.moves import (
    NO_LOCKS,
    Locks,
    assigned,
    configured,
    grant,
    idle,
    locked,
    narrowed,
    only,
    place,
    queued,
    start,
)
from tests.replay.audit.planted import assert_caught
from tests.replay.audit.story import Story
from tests.replay.audit.weighed_lab import HEAVY, LIGHT, lab, passes, waits


def takes_a(story: Story, number: int, policy: int = 6) -> Story:
    story.complete(1, "a")
    locks = beside_b(story, number) if policy == 6 else NO_LOCKS
    story.batch(place(number, "a", locks=locks), policy=policy)
    return story


def beside_b(story: Story, number: int) -> Locks | None:
    """Return the locks that a recipe gets, None if those of the recipe on b are in the way."""
    events = [(recorded.subject, recorded.event) for recorded in story.log]
    (declared,) = (
        each.locks for name, each in events if name == f"recipe/{number}" and type(each) is RecipeNew
    )
    *_, holds = (each.locks for _, each in events if isinstance(each, RecipeWaiting) and each.system == "b")
    wanted = held(locks_from_json(declared, "locks"))
    return None if conflicts(wanted, stored_locks(holds or {})) else locks_to_json(wanted)


def two_wait(first: Locks, second: Locks, placed: Locks = HEAVY, **configuration: Any) -> Story:
    """Return a story: recipes 11 and 12 wait for a in this order."""
    story = lab(placed)
    if configuration:
        story.commit(configured(**configuration))
    waits(story, 11, first)
    waits(story, 12, second)
    return story


@pytest.mark.parametrize(
    ("first", "second", "winner"),
    [
        (HEAVY, LIGHT, 12),
        (LIGHT, HEAVY, 11),
        (HEAVY, HEAVY, 11),
        (LIGHT, LIGHT, 11),
        ({"network": {"Exclusive": ["y"]}}, LIGHT, 12),
        (HEAVY, {"network": {"Exclusive": ["y"]}}, 12),
        # The same names at another level meet nothing.
        (HEAVY, {"system": {"Exclusive": ["x"]}}, 12),
        ({"system": {"Exclusive": ["x"]}}, {"system": {"Shared": ["x"]}}, 12),
        ({"whole_lab": True}, HEAVY, 12),
        ({"Network": {"Shared": ["x"]}}, {"network": "UnknownShared"}, 12),
    ],
)
def test_nobody_jumped__by_weight__in_both_directions(first: Locks, second: Locks, winner: int) -> None:
    loser = 23 - winner
    assert takes_a(two_wait(first, second), winner).violations() == []
    assert_caught(takes_a(two_wait(first, second), loser), "nobody_jumped", "recipe/11", "recipe/12")


def test_nobody_jumped__by_weight__names_the_weights() -> None:
    (found,) = takes_a(two_wait(HEAVY, LIGHT), 11).violations()
    assert "recipe/12 (Normal, weight 1), which ranks before recipe/11 (Normal, weight 4)" in found.what


@pytest.mark.parametrize("policy", [2, 3, 4, 5])
def test_nobody_jumped__policy_before_weights__is_by_submission(policy: int) -> None:
    assert takes_a(two_wait(HEAVY, LIGHT), 11, policy).violations() == []
    assert_caught(takes_a(two_wait(HEAVY, LIGHT), 12, policy), "nobody_jumped", "recipe/11", "recipe/12")


CONFIGURATIONS: list[tuple[dict[str, Any], int]] = [
    ({"enabled": True}, 12),
    ({"enabled": False}, 11),
    ({"base": 0.001}, 12),
    # The difference is in the last decimal of a value.
    ({"values": {"sure": 0.001, "heavy_degrade": 0}}, 12),
    ({"values": {"sure": 0, "maybe": 0, "heavy_degrade": 0, "degrade": 0}}, 11),
]


@pytest.mark.parametrize(("weights", "winner"), CONFIGURATIONS)
def test_nobody_jumped__configured_weights__count(weights: dict[str, Any], winner: int) -> None:
    assert takes_a(two_wait(HEAVY, LIGHT, weights=weights), winner).violations() == []
    jump = takes_a(two_wait(HEAVY, LIGHT, weights=weights), 23 - winner)
    assert_caught(jump, "nobody_jumped", "recipe/11", "recipe/12")


@pytest.mark.parametrize(
    ("between", "after", "winner"),
    [
        # HEAVY weighs 4 * (30 - ticks), LIGHT 1 * (30 - ticks) from its own submission.
        (0, 29, 12),
        (0, 30, 11),
        (20, 25, 11),
        (20, 23, 12),
        # Both weigh 24.
        (18, 24, 11),
        (18, 23.9, 12),
        (31, 31, 11),
    ],
)
def test_nobody_jumped__age__counts_in_whole_ticks(between: float, after: float, winner: int) -> None:
    for number, jumps in ((winner, False), (23 - winner, True)):
        story = lab()
        waits(story, 11, HEAVY)
        passes(story, between)
        waits(story, 12, LIGHT)
        passes(story, after - between)
        found = takes_a(story, number).violations()
        assert [one.invariant for one in found] == ["nobody_jumped"] * jumps, list(map(str, found))


def test_nobody_jumped__own_placed_recipes__do_not_count() -> None:
    """Set 11 weighs 2.5, and set 13 weighs 1.5. With its own recipe on e, set 13 would weigh 4."""
    shared = {level: {"Shared": ["y"]} for level in LEVELS}
    for number, jumps in ((13, False), (11, True)):
        story = lab(LIGHT)
        story.idle("d", "e")
        story.job(11, {11: only("a"), 12: only("d")}, locks=shared)
        story.job(13, {13: only("a"), 14: only("e")}, locks=HEAVY)
        story.batch([*grant(12, "d"), assigned(11)], [*grant(14, "e"), assigned(13)])
        story.complete(1, "a")
        other, locks = (14, HEAVY) if number == 13 else (12, shared)
        starts = [*start(number, "a", locks), *start(other, "e" if other == 14 else "d", locks)]
        story.batch([*grant(number, "a"), *starts])
        found = story.violations()
        assert [one.invariant for one in found] == ["nobody_jumped"] * jumps, list(map(str, found))


@pytest.mark.parametrize(("stage", "winner"), [(0, 11), (1, 12), (2, 11)])
def test_nobody_jumped__placed_recipe__counts_with_declared_then_held_locks(stage: int, winner: int) -> None:
    """Recipe 20 on b waits for its locks, has them, and has given them up. Recipe 12 always weighs 3.

    Recipe 11 weighs 2.5 beside unknown names at its level, 4 beside all names, and 1.5 beside none.
    """
    exclusive = {level: {"Exclusive": ["z"]} for level in LEVELS if level != "network"}
    for number, jumps in ((winner, False), (23 - winner, True)):
        story = lab({"network": {"Shared": ["q"]}})
        story.idle("d")
        story.job(20, {20: only("d")}, locks={"network": "UnknownExclusive"})
        story.batch(place(20, "d", locks=None))
        if stage > 0:
            story.complete(10, "b")
            story.batch([locked(20, {"network": "AllExclusive"})], [idle("b")])
        if stage > 1:
            story.commit(narrowed(20, NO_LOCKS))
        waits(story, 11, {"network": {"Exclusive": ["z"]}})
        waits(story, 12, exclusive)
        story.complete(1, "a")
        has_to_wait = number == 11 and stage == 1
        locks = None if has_to_wait else exclusive if number == 12 else {"network": {"Exclusive": ["z"]}}
        story.batch(place(number, "a", locks=locks))
        found = story.violations()
        assert [one.invariant for one in found] == ["nobody_jumped"] * jumps, list(map(str, found))


@pytest.mark.parametrize("starts", [True, False])
def test_nobody_jumped__own_names__are_those_of_the_placed_recipe(starts: bool) -> None:
    """Recipe 20 on b has started, or its set still waits for the system of recipe 1."""
    own = {"pool": {"Exclusive": ["$pools"]}, "system": {"Shared": ["$system"]}}
    profile = {"pool": "UnknownExclusive", "system": "UnknownShared"}
    for pool, winner in (("big", 12), ("small", 11)):
        story = lab(LIGHT)
        story.complete(10, "b")
        if starts:
            story.commit(into_pool(pool, "b"))
            story.job(20, {20: only("b")}, locks=own, profile=profile)
            story.batch(place(20, "b", locks={"pool": {"Exclusive": [pool]}, "system": {"Shared": ["b"]}}))
        else:
            story.job(20, {20: only("b"), 21: only("a")}, "Low", locks=own, profile=profile)
            story.batch([*grant(20, "b"), assigned(21)])
            story.commit(into_pool(pool, "b"))
        waits(story, 11, {"pool": {"Exclusive": ["big"]}})
        waits(story, 12, {"pool": {"Exclusive": ["other"]}})
        assert takes_a(story, winner).violations() == []


def test_nobody_jumped__new_sets_of_a_batch__rank_by_weight() -> None:
    for first, second, winner in ((HEAVY, LIGHT, 12), (LIGHT, HEAVY, 11)):
        for number, jumps in ((winner, False), (23 - winner, True)):
            story = lab()
            story.complete(1, "a")
            story.decide([idle("a")])
            story.job(11, {11: only("a")}, locks=first)
            story.job(12, {12: only("a")}, locks=second)
            story.batch(place(number, "a", locks=beside_b(story, number)), [queued(23 - number)])
            found = story.violations()
            assert [one.invariant for one in found] == ["nobody_jumped"] * jumps, list(map(str, found))


def test_nobody_jumped__grant_in_the_same_commit__weighs_for_the_next() -> None:
    """Recipe 13 takes d first; recipe 11 meets its lock, and recipe 12 does not."""
    for number, jumps in ((12, False), (11, True)):
        story = lab(LIGHT)
        story.idle("d")
        waits(story, 11, HEAVY)
        waits(story, 12, {"network": {"Exclusive": ["y"]}})
        story.job(13, {13: only("d")}, locks=HEAVY)
        story.complete(1, "a")
        y = {"network": {"Exclusive": ["y"]}}
        story.batch(place(13, "d", locks=HEAVY), place(number, "a", locks=y if number == 12 else None))
        found = story.violations()
        assert [one.invariant for one in found] == ["nobody_jumped"] * jumps, list(map(str, found))


@pytest.mark.parametrize(
    ("locks", "profile", "is_sound"),
    [
        (HEAVY, HEAVY, True),
        ({"pool": {"Shared": ["$pools", "p"]}}, {"pool": "UnknownShared"}, True),
        (HEAVY, LIGHT, False),
        (LIGHT, HEAVY, False),
        (HEAVY, {"network": "UnknownExclusive"}, False),
        ({"pool": {"Shared": ["$pools"]}}, {"pool": {"Shared": ["$pools"]}}, False),
        (
            {"network": [{"Shared": ["a", "b"]}, {"Exclusive": ["a"]}]},
            {"network": {"Exclusive": ["a"]}},
            False,
        ),
    ],
)
def test_merged_profile__differs_from_the_declared_locks__is_found(
    locks: Locks, profile: Locks, is_sound: bool
) -> None:
    story = lab()
    waits(story, 11, locks, profile)
    if is_sound:
        assert story.violations() == []
    else:
        assert_caught(story, "merged_profile", "recipe-set/11")


@pytest.mark.parametrize("locks", [{"disk": "AllShared"}, {"pool": "Some"}, {"pool": {"Shared": []}}])
def test_merged_profile__locks_cannot_be_read__is_found(locks: Locks) -> None:
    story = lab()
    waits(story, 11, locks)
    assert_caught(story, "merged_profile", "recipe/11")
