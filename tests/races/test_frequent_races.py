"""The races about room, partitions and claims, in both orders, many times.

`LABLEDGER_RACE_ROUNDS` sets the rounds of each soak. By default those about claims have fewer, because each
of their rounds leaves systems, recipes and configurations behind that later rounds fold.
"""

from __future__ import annotations

import os

import pytest

from tests.in_process.environment import Instance
from tests.races.claims import FREQUENT_CLAIM_RACES
from tests.races.rounds import Order, one_in_between, other_in_between, play
from tests.races.table import FREQUENT, RACES

ROUNDS = "LABLEDGER_RACE_ROUNDS"


def soaked_rounds(name: str) -> int:
    usual = 100 if name in FREQUENT_CLAIM_RACES else 1_000
    return int(os.environ.get(ROUNDS) or usual)


def play_rounds(scene: Instance, name: str, rounds: int, order: Order) -> None:
    """Play a race again and again; `play` checks each round."""
    for number in range(rounds):
        play(scene, number, RACES[name], order)


@pytest.mark.parametrize("order", [one_in_between, other_in_between])
@pytest.mark.parametrize("name", FREQUENT)
def test_race__both_orders_thirty_times__one_winner_and_nothing_left_over(
    scene: Instance, name: str, order: Order
) -> None:
    play_rounds(scene, name, 30, order)


@pytest.mark.soak
@pytest.mark.parametrize("order", [one_in_between, other_in_between])
@pytest.mark.parametrize("name", FREQUENT)
def test_race__both_orders_again_and_again__one_winner_and_nothing_left_over(
    scene: Instance, name: str, order: Order
) -> None:
    play_rounds(scene, name, soaked_rounds(name), order)
