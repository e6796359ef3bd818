"""A round of a race: both actors in some order, and the conditions that hold afterwards."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from replay.audit.tables import FREE
from tests.in_process.environment import Instance
from tests.races.conditions import Outcome, nothing_left
from tests.races.race import Race
from tests.races.stage import RaceStage

Act = Callable[[], Outcome]
Order = Callable[[Instance, Act, Act, bool], tuple[Outcome, Outcome]]
"""(scene, one, other, whether the other is the scheduler) -> the outcomes of both."""


def play(scene: Instance, number: int, race: Race, order: Order) -> None:
    """Play one round and check its conditions."""
    stage = RaceStage(scene, number)
    race.prepare(stage)
    outcomes = order(scene, *_actors(stage, race), race.other is None)
    stage.settle()
    if not race.may_leave_pending:
        scene.watched.at_rest()
    race.judge(stage, *outcomes)
    world = stage.clear()
    assert not world.recipes, "a recipe is left over"
    assert {system.usage for system in world.systems.values()} <= set(FREE), "a system is left over"
    nothing_left(scene.scheduler.partition)


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
