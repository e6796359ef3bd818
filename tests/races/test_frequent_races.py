"""The races about room and partitions, in both orders, many times."""

from __future__ import annotations

import pytest

from tests.in_process.environment import Instance
from tests.races.rounds import Order, one_in_between, other_in_between, play
from tests.races.table import FREQUENT, RACES

ROUNDS = 30
SOAKED_ROUNDS = 1_000

every_frequent_race = pytest.mark.parametrize("name", FREQUENT)
both_orders = pytest.mark.parametrize("order", [one_in_between, other_in_between])


@both_orders
@every_frequent_race
def test_race__both_orders__one_winner_and_nothing_left_over(
    scene: Instance, name: str, order: Order
) -> None:
    for number in range(ROUNDS):
        play(scene, number, RACES[name], order)


@pytest.mark.soak
@both_orders
@every_frequent_race
def test_race__both_orders_again_and_again__one_winner_and_nothing_left_over(
    scene: Instance, name: str, order: Order
) -> None:
    for number in range(SOAKED_ROUNDS):
        play(scene, number, RACES[name], order)
