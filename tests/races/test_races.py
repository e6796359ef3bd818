"""Exactly one actor wins where only one can, in every order, and nothing is left over."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from replay.audit.tables import FREE
from tests.in_process.environment import Instance
from tests.races.conditions import Outcome
from tests.races.stage import RaceStage
from tests.races.table import RACES, Race
from tests.random_histories.faults import not_expected

Act = Callable[[], Outcome]
Order = Callable[[Instance, Act, Act, bool], tuple[Outcome, Outcome]]
"""(scene, one, other, whether the other is the scheduler) -> the outcomes of both."""


def play(scene: Instance, number: int, race: Race, order: Order) -> None:
    """Play one round and check its conditions."""
    stage = RaceStage(scene, number)
    race.prepare(stage)
    outcomes = order(scene, *_actors(stage, race), race.other is None)
    stage.settle()
    scene.watched.at_rest()
    race.judge(stage, *outcomes)
    world = stage.clear()
    assert not world.recipes, "a recipe is left over"
    assert {system.usage for system in world.systems.values()} <= set(FREE), "a system is left over"


def _actors(stage: RaceStage, race: Race) -> tuple[Act, Act]:
    one, other, scheduler = *stage.scene.apis, stage.scene.scheduler
    if race.other is None:
        return lambda: race.one(stage, one), scheduler.settle
    return lambda: race.one(stage, one), lambda: race.other(stage, other)


def _one_first(scene: Instance, one: Act, other: Act, _: bool) -> tuple[Outcome, Outcome]:
    return one(), other()


def _other_first(scene: Instance, one: Act, other: Act, _: bool) -> tuple[Outcome, Outcome]:
    theirs = other()
    return one(), theirs


def one_in_between(scene: Instance, one: Act, other: Act, is_scheduler: bool) -> tuple[Outcome, Outcome]:
    """Let `one` act between the decision and the append of `other`."""
    appended = scene.scheduler.log if is_scheduler else scene.apis[1].appended
    between: list[Outcome] = []
    with appended.preceded(lambda: between.append(one())):
        theirs = other()
    (ours,) = between
    return ours, theirs


def other_in_between(scene: Instance, one: Act, other: Act, _: bool) -> tuple[Outcome, Outcome]:
    between: list[Outcome] = []
    with scene.apis[0].appended.preceded(lambda: between.append(other())):
        ours = one()
    (theirs,) = between
    return ours, theirs


ORDERS: tuple[Order, ...] = (_one_first, _other_first, one_in_between, other_in_between)


def at_once(scene: Instance, one: Act, other: Act, _: bool) -> tuple[Outcome, Outcome]:
    start = Barrier(2)

    def started(act: Act) -> Outcome:
        start.wait(10)
        return act()

    with ThreadPoolExecutor(2) as pool:
        both = [pool.submit(started, act) for act in (one, other)]
        ours, theirs = (future.result(30) for future in both)
    return ours, theirs


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
    ],
)
def test_race__versions_not_expected__two_winners_found(
    scene: Instance, monkeypatch: pytest.MonkeyPatch, name: str, kind: str, found: str
) -> None:
    not_expected(kind)(monkeypatch)
    with pytest.raises(AssertionError, match=found):
        play(scene, 1, RACES[name], one_in_between)
