"""The state of a set that follows its recipes is the one that looks at all of them."""

from __future__ import annotations

from random import Random

from domain.recipe.lifecycle import FINISHED, UNFINISHED
from domain.roll_up import state_of
from projections.recipe_cache import StateCounts


def test_states__recipes_move_at_random__together_are_that_of_all_of_them() -> None:
    dice, states = Random(1), StateCounts()
    plain: dict[int, str] = {}
    for _ in range(500):
        recipe_id, state = dice.randint(1, 5), dice.choice(UNFINISHED + FINISHED)
        states.move(plain.get(recipe_id), state)
        plain[recipe_id] = state
        assert states.rolled_up == state_of(plain.values())
