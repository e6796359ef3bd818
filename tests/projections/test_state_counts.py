"""Test that the incremental state of a set equals the state of all its recipes."""

from __future__ import annotations

from random import Random

from domain.recipe.lifecycle import FINISHED, UNFINISHED
from domain.roll_up import state_of
from projections.recipe_cache import StateCounts


def test_state_counts__random_moves__equal_the_state_of_all_recipes() -> None:
    dice, states = Random(1), StateCounts()
    plain: dict[int, str] = {}
    for _ in range(500):
        recipe_id, state = dice.randint(1, 5), dice.choice(UNFINISHED + FINISHED)
        states.move(plain.get(recipe_id), state)
        plain[recipe_id] = state
        assert states.rolled_up == state_of(plain.values())
