"""Each race in both orders: one after the other, one between the other's decision and append, and at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from threading import Barrier

import pytest

from tests.checker.tables import FREE
from tests.harness.pool import ServerPool
from tests.inside.bench import Bench, Scene
from tests.races.stage import Stage, furnish
from tests.races.table import RACES, Outcome, Race

ROUNDS = 20
SOAKED_ROUNDS = 1_000

Act = Callable[[], Outcome]


@pytest.fixture(scope="package")
def bench(servers: ServerPool) -> Iterator[Bench]:
    """Two doors, as two processes of the API have them."""
    with servers.databases("embedded").fresh() as database, closing(Bench(database, doors=2)) as bench:
        yield bench


@pytest.fixture
def scene(bench: Bench) -> Iterator[Scene]:
    with bench.scene() as scene:
        furnish(scene)
        scene.desk.begin()
        yield scene
        scene.desk.die()


@pytest.mark.parametrize("race", RACES.values(), ids=RACES.keys())
def test_race__every_order__one_winner_and_nothing_left_over(scene: Scene, race: Race) -> None:
    for number, order in enumerate(ORDERS):
        _round(scene, number, race, order)


@pytest.mark.parametrize("race", RACES.values(), ids=RACES.keys())
def test_race__at_once__one_winner_and_nothing_left_over(scene: Scene, race: Race) -> None:
    for number in range(ROUNDS):
        _round(scene, number, race, _at_once)


@pytest.mark.soak
@pytest.mark.parametrize("race", RACES.values(), ids=RACES.keys())
def test_race__at_once_again_and_again__one_winner_and_nothing_left_over(scene: Scene, race: Race) -> None:
    for number in range(SOAKED_ROUNDS):
        _round(scene, number, race, _at_once)


def _round(scene: Scene, number: int, race: Race, order: Order) -> None:
    stage = Stage(scene, number)
    race.prepare(stage)
    outcomes = order(scene, *_actors(stage, race), race.other is None)
    stage.settle()
    scene.watched.at_rest()
    race.judge(stage, *outcomes)
    world = stage.clear()
    assert not world.recipes, "a recipe is left over"
    assert {system.usage for system in world.systems.values()} <= set(FREE), "a system is left over"


def _actors(stage: Stage, race: Race) -> tuple[Act, Act]:
    one, other, desk = *stage.scene.doors, stage.scene.desk
    if race.other is None:
        return lambda: race.one(stage, one), desk.settle
    return lambda: race.one(stage, one), lambda: race.other(stage, other)


Order = Callable[[Scene, Act, Act, bool], tuple[Outcome, Outcome]]


def _one_first(scene: Scene, one: Act, other: Act, _: bool) -> tuple[Outcome, Outcome]:
    return one(), other()


def _other_first(scene: Scene, one: Act, other: Act, _: bool) -> tuple[Outcome, Outcome]:
    theirs = other()
    return one(), theirs


def _one_in_between(scene: Scene, one: Act, other: Act, is_scheduler: bool) -> tuple[Outcome, Outcome]:
    """The other decides, one acts, the other appends."""
    appended = scene.desk.log if is_scheduler else scene.doors[1].appended
    between: list[Outcome] = []
    with appended.preceded(lambda: between.append(one())):
        theirs = other()
    (ours,) = between
    return ours, theirs


def _other_in_between(scene: Scene, one: Act, other: Act, _: bool) -> tuple[Outcome, Outcome]:
    between: list[Outcome] = []
    with scene.doors[0].appended.preceded(lambda: between.append(other())):
        ours = one()
    (theirs,) = between
    return ours, theirs


ORDERS: tuple[Order, ...] = (_one_first, _other_first, _one_in_between, _other_in_between)


def _at_once(scene: Scene, one: Act, other: Act, _: bool) -> tuple[Outcome, Outcome]:
    start = Barrier(2)

    def started(act: Act) -> Outcome:
        start.wait(10)
        return act()

    with ThreadPoolExecutor(2) as pool:
        both = [pool.submit(started, act) for act in (one, other)]
        ours, theirs = (future.result(30) for future in both)
    return ours, theirs
