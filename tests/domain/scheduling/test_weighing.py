"""Weights of profiles, kept step by step, beside weights that are computed anew."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from random import Random

import pytest

from domain.contention.locks import ALL, NO_LOCKS, UNKNOWN, LevelLock, Locks, names
from domain.contention.weights import static_weight, worst_cells
from domain.scheduling.demand.weighing import NO_PROFILE, Placed, Profile, Weighing

PARTS = ((), names("a"), names("b"), names("a", "b"), UNKNOWN, ALL)
NOW = datetime(2026, 11, 23, tzinfo=UTC)


def some_locks(chance: Random) -> Locks:
    """Return locks at up to two levels, often none; rarely the lock on the whole lab."""
    if chance.random() < 0.3:
        return NO_LOCKS
    levels = [LevelLock()] * 5
    for _ in range(chance.randrange(1, 3)):
        shared, exclusive = chance.choice(PARTS), chance.choice(PARTS)
        levels[chance.randrange(5)] = (
            LevelLock(shared, ()) if chance.random() < 0.5 else LevelLock((), exclusive)
        )
    return Locks(tuple(levels), chance.random() < 0.1)


@pytest.mark.parametrize("seed", range(12))
def test_classes__recipes_are_placed_and_end__are_the_static_weights_computed_anew(seed: int) -> None:
    chance, moved = Random(seed), dict[int, int]()
    weighing = Weighing(moved.__setitem__)
    placed: dict[int, Placed] = {}
    weighing.recipe_ids_of = lambda number: [each for each in placed if placed[each].recipe_set_id == number]
    profiles: dict[int, Profile] = {}
    for recipe_id in range(100):
        if placed and chance.random() < 0.45:
            ended = chance.choice(sorted(placed))
            del placed[ended]
            weighing.remove(ended)
        else:
            placed[recipe_id] = Placed(some_locks(chance), chance.randrange(6))
            weighing.place(recipe_id, placed[recipe_id])
        if len(profiles) < 10 or chance.random() < 0.1:
            profile = Profile(some_locks(chance), chance.choice((None, None, chance.randrange(6))))
            if profile.locks != NO_LOCKS:
                number = weighing.number(profile)
                weighing.use(number)
                profiles[number] = profile
        for number, profile in profiles.items():
            others = [each.locks for each in placed.values() if each.recipe_set_id != profile.holder]
            expected = static_weight(worst_cells(profile.locks, others), weighing.settings)
            assert weighing.static(weighing.classes[number]) == expected
    assert moved, "no weight has changed"
    assert weighing.static(weighing.classes[NO_PROFILE]) == weighing.settings.base


def test_weight__ticks_pass__falls_to_0_at_k_and_no_further() -> None:
    weighing = Weighing(lambda *_: None)
    weighing.submitted_at = lambda _: NOW
    weights = []
    for ticks in (-1, 0, 1, 29, 30, 31):
        weighing.now = NOW + timedelta(seconds=30 * ticks)
        weights.append(weighing.weight(2_500, 1))
    assert weights == [75_000, 75_000, 72_500, 2_500, 0, 0]


def test_profile__without_recipes__is_forgotten() -> None:
    weighing = Weighing(lambda *_: None)
    number = weighing.number(Profile(Locks(whole_lab=True)))
    weighing.use(number, 2)
    assert number in weighing.classes
    weighing.use(number, -2)
    assert number not in weighing.classes
