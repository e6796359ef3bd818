"""Planted preemptions that break a rule, each in a log that is sound but for it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from domain.events import Basis, Stamp
from domain.recipe.events import RecipeQueued, RecipeScheduled, RecipeWaiting
from domain.scheduling.decisions.decide import POLICY_VERSION
from domain.system.events import SystemPending, SystemScheduled, SystemWaiting
from replay.audit import check, from_recorded
from tests.domain.scheduling.consistency_loop import tick
from tests.domain.scheduling.host_requirements import named
from tests.domain.scheduling.labs import one_lab
from tests.domain.scheduling.world import World

NAME = "rightful_preemptions"


def lab(taking: int = 2, **preemption: Any) -> World:
    """Return a lab whose queue `urgent` is guaranteed some systems, and `own` none; a and b are idle."""
    world = one_lab()
    world.add_idle("a", "b")
    queues = [{"name": "urgent", "guaranteed": taking}, {"name": "own"}, {"name": "low", "guaranteed": 1}]
    world.configure(queues={"queues": queues}, preemption={"enabled": True, **preemption})
    return world


def submit(world: World, queue: str, fqdn: str, **more: Any) -> int:
    submitted = {"queue": f"root.{queue}", "preemptible": more.pop("preemptible", True)}
    (recipe_id,) = world.submit_set([named(fqdn)], submitted=submitted, **more)
    world.settle()
    return recipe_id


def preempt(world: World, victim: int, taking: int, fqdn: str = "a") -> None:
    """Record the preemption of one recipe for another, whatever the rules say."""
    by = world.recipes[taking].recipe_set_id
    events = [
        (f"recipe/{victim}", RecipeQueued(f"preempted by recipe set {by}", by)),
        (f"system/{fqdn}", SystemPending()),
        (f"recipe/{taking}", RecipeScheduled(fqdn, "lab-1")),
        (f"system/{fqdn}", SystemScheduled(taking)),
        (f"recipe/{taking}", RecipeWaiting(fqdn, {})),
        (f"system/{fqdn}", SystemWaiting(taking)),
    ]
    basis = Basis(world.position, world.now, 1, POLICY_VERSION)
    stamp = Stamp(world.now, "scheduler", f"timer/preemption/{by}", basis, 0)
    world.append([(subject, event, stamp) for subject, event in events])


def found(world: World) -> list[str]:
    return [each.what for each in check(from_recorded(world.log)) if each.invariant == NAME]


def test_preemption__by_the_scheduler__is_rightful() -> None:
    world = lab()
    submit(world, "own", "a")
    submit(world, "urgent", "a")
    assert tick(world, 30).findings.preemptions == 1
    assert check_all(world) == []


def test_preemption__victim_waits_for_its_locks__is_rightful() -> None:
    world = lab()
    network = {"network": {"Exclusive": ["n1"]}}
    for queue, fqdn in (("low", "b"), ("own", "a")):
        world.submit_set([named(fqdn)], locks_of=[network], submitted={"queue": f"root.{queue}"})
        world.settle()
    assert world.recipes[2].awaits_locks
    submit(world, "urgent", "a")
    assert tick(world, 30).findings.preemptions == 1
    assert check_all(world) == []


def check_all(world: World) -> list[Any]:
    return list(check(from_recorded(world.log)))


def off(world: World) -> tuple[int, int]:
    world.configure(queues={"queues": [{"name": "urgent", "guaranteed": 2}, {"name": "own"}]})
    return submit(world, "own", "a"), submit(world, "urgent", "a")


def of_a_queue_with_its_guarantee(world: World) -> tuple[int, int]:
    return submit(world, "low", "a"), submit(world, "own", "a")


def below_the_guarantee_of_the_victim(world: World) -> tuple[int, int]:
    return submit(world, "low", "a"), submit(world, "urgent", "a")


def after_the_start(world: World) -> tuple[int, int]:
    return submit(world, "own", "a", preemptible=False), submit(world, "urgent", "a")


def of_a_higher_priority(world: World) -> tuple[int, int]:
    return submit(world, "own", "a", priority="High"), submit(world, "urgent", "a")


def of_the_same_job(world: World) -> tuple[int, int]:
    return submit(world, "own", "a", job_id=7), submit(world, "urgent", "a", job_id=7)


def of_the_same_queue(world: World) -> tuple[int, int]:
    return submit(world, "urgent", "a"), submit(world, "urgent", "a")


def below_the_guarantee_above_both(world: World) -> tuple[int, int]:
    below = [{"name": "urgent", "guaranteed": 1}, {"name": "own"}]
    parent = {"name": "parent", "guaranteed": 2, "queues": below}
    world.configure(queues={"queues": [parent]}, preemption={"enabled": True, "after_seconds": 0})
    submitted = {"queue": "root.parent.own", "preemptible": True}
    victim, _ = world.submit_set([named("a"), named("b")], submitted=submitted)
    world.settle()
    return victim, submit(world, "parent.urgent", "a")


def beyond_the_bound_of_its_job(world: World) -> tuple[int, int]:
    queues = [{"name": "urgent", "guaranteed": 2}, {"name": "own"}]
    section = {"enabled": True, "after_seconds": 0, "most_per_job": 0}
    world.configure(queues={"queues": queues}, preemption=section)
    return submit(world, "own", "a"), submit(world, "urgent", "a")


CASES: dict[Callable[[World], tuple[int, int]], str] = {
    off: "preemption is off",
    of_a_queue_with_its_guarantee: "of None guaranteed systems",
    below_the_guarantee_of_the_victim: "leaves root.low 0 of 1 guaranteed systems",
    after_the_start: "is preempted after its start",
    of_a_higher_priority: "is preempted by a set of lower priority",
    of_the_same_job: "is preempted by a set of its own job",
    below_the_guarantee_above_both: "leaves root.parent 1 of 2 guaranteed systems",
    of_the_same_queue: "is preempted by a set of its own queue",
    beyond_the_bound_of_its_job: "was preempted 0 times before, and 1 times now, of 0",
}


@pytest.mark.parametrize("case", CASES)
def test_preemption__planted_against_a_rule__is_found(case: Callable[[World], tuple[int, int]]) -> None:
    world = lab(after_seconds=0) if case is not off else lab()
    victim, taking = case(world)
    preempt(world, victim, taking)
    assert any(CASES[case] in what for what in found(world))


def test_preemption__too_early__is_found() -> None:
    world = lab()
    victim, taking = submit(world, "own", "a"), submit(world, "urgent", "a")
    preempt(world, victim, taking)
    assert found(world) == ["recipe-set/2 has waited 0 s only"]


def test_preemption__room_is_kept_for_a_set_before_it__is_found() -> None:
    world = lab(after_seconds=0)
    queues = [{"name": "urgent", "guaranteed": 2}, {"name": "own"}]
    sections = {"limits": {"placed_recipes": 2}, "weights": {"coefficient": 1}}
    world.configure(queues={"queues": queues}, preemption={"enabled": True, "after_seconds": 0}, **sections)
    victim = submit(world, "own", "a")
    world.submit_set([named("a"), named("b")], submitted={"queue": "root.own"})
    world.settle()
    world.now += timedelta(seconds=60)
    taking = submit(world, "urgent", "a")
    assert tick(world).findings.preemptions == 0
    assert check_all(world) == []
    preempt(world, victim, taking)
    assert found(world) == ["it preempts others, but the room that it needs is kept for a set before it"]
