"""Exactly one actor wins where only one can, in every order, and nothing is left over."""

from __future__ import annotations

import pytest

from tests.in_process.environment import Instance
from tests.races.race import Race
from tests.races.rounds import ORDERS, at_once, one_in_between, play
from tests.races.table import RACES
from tests.random_histories.faults import not_expected

ROUNDS = 3
SOAKED_ROUNDS = 50

every_race = pytest.mark.parametrize("race", RACES.values(), ids=RACES.keys())


@every_race
def test_race__every_order__one_winner_and_nothing_left_over(scene: Instance, race: Race) -> None:
    for number, order in enumerate(ORDERS):
        play(scene, number, race, order)


@every_race
def test_race__at_once__one_winner_and_nothing_left_over(scene: Instance, race: Race) -> None:
    for number in range(ROUNDS):
        play(scene, number, race, at_once)


@pytest.mark.soak
@every_race
def test_race__at_once_again_and_again__one_winner_and_nothing_left_over(scene: Instance, race: Race) -> None:
    for number in range(SOAKED_ROUNDS):
        play(scene, number, race, at_once)


@pytest.mark.parametrize(
    ("name", "kind", "found"),
    [
        # The grant ignores the cancellation.
        ("cancel, grant to a new set", "recipe", "legal_transitions|has events before it was new"),
        # A person has it, and a recipe as well.
        ("reserve, forced grant", "system", "legal_transitions"),
        # The claim by age ignores the configuration.
        ("claims stop, claim by age", "partition", "claim"),
        ("cancel, claim by age", "recipe", "claim|has events before it was new"),
    ],
)
def test_race__versions_not_expected__two_winners_found(
    scene: Instance, monkeypatch: pytest.MonkeyPatch, name: str, kind: str, found: str
) -> None:
    not_expected(kind)(monkeypatch)
    with pytest.raises(AssertionError, match=found):
        play(scene, 1, RACES[name], one_in_between)
