"""A roll-up that follows its recipes is the one that looks at all of them."""

from __future__ import annotations

from random import Random

from domain.recipe.lifecycle import FINISHED, UNFINISHED
from domain.roll_up import RESULT_ORDER, result_of, state_of
from projections.members import RollUp


def test_roll_up__recipes_move_at_random__is_that_of_all_of_them() -> None:
    dice, roll_up = Random(1), RollUp()
    states: dict[int, str] = {}
    results: list[str] = []
    for _ in range(500):
        recipe_id = dice.randint(1, 5)
        state, result = (
            dice.choice(UNFINISHED + FINISHED),
            dice.choice(RESULT_ORDER[: 2 + len(results) // 50]),
        )
        roll_up.move(states.get(recipe_id), state)
        roll_up.worsen([result])
        states[recipe_id] = state
        results.append(result)
        assert (roll_up.state, roll_up.result) == (state_of(states.values()), result_of(results))
