"""The races about room, partitions and claims, in both orders, many times."""

from __future__ import annotations

import pytest

from tests.in_process.environment import Instance
from tests.races.rounds import Order, one_in_between, other_in_between, play
from tests.races.table import FREQUENT, RACES


@pytest.mark.parametrize("order", [one_in_between, other_in_between])
@pytest.mark.parametrize("rounds", [30, pytest.param(1_000, marks=pytest.mark.soak)])
@pytest.mark.parametrize("name", FREQUENT)
def test_race__both_orders_again_and_again__one_winner_and_nothing_left_over(
    scene: Instance, name: str, rounds: int, order: Order
) -> None:
    """`play` checks each round."""
    for number in range(rounds):
        play(scene, number, RACES[name], order)
