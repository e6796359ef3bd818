"""The races about room, partitions and claims, in both orders, many times.

`LABLEDGER_RACE_ROUNDS` sets the rounds of each soak. A new scene begins after every `ROUNDS_OF_SCENE` rounds,
because later rounds examine the removed systems and requirements that each round leaves, too.
"""

from __future__ import annotations

import os

import pytest

from tests.in_process.environment import Environment
from tests.races.rounds import Order, one_in_between, other_in_between, play
from tests.races.stage import furnished_scene
from tests.races.table import FREQUENT, RACES

SOAKED_ROUNDS = int(os.environ.get("LABLEDGER_RACE_ROUNDS") or 150)
ROUNDS_OF_SCENE = 50


def play_rounds(environment: Environment, name: str, rounds: int, order: Order) -> None:
    """Play a race again and again; `play` checks each round."""
    for first in range(0, rounds, ROUNDS_OF_SCENE):
        with furnished_scene(environment) as scene:
            for number in range(first, min(first + ROUNDS_OF_SCENE, rounds)):
                play(scene, number, RACES[name], order)


@pytest.mark.parametrize("order", [one_in_between, other_in_between])
@pytest.mark.parametrize("name", FREQUENT)
def test_race__both_orders_eight_times__one_winner_and_nothing_left_over(
    environment: Environment, name: str, order: Order
) -> None:
    play_rounds(environment, name, 8, order)


@pytest.mark.soak
@pytest.mark.parametrize("order", [one_in_between, other_in_between])
@pytest.mark.parametrize("name", FREQUENT)
def test_race__both_orders_again_and_again__one_winner_and_nothing_left_over(
    environment: Environment, name: str, order: Order
) -> None:
    play_rounds(environment, name, SOAKED_ROUNDS, order)
