"""Preemption: sets of queues below their guarantee take the systems of others (design 6.4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from domain.recipe.events import RecipeQueued
from tests.domain.scheduling.consistency_loop import nothing_expires, run_loop, tick
from tests.domain.scheduling.host_requirements import named
from tests.domain.scheduling.world import World

DUE = 30
QUEUES = [{"name": "low", "guaranteed": 1}, {"name": "urgent", "guaranteed": 2}, {"name": "own"}]


def configure(world: World, *queues: Mapping[str, Any], **preemption: Any) -> None:
    section = {"enabled": True, **preemption}
    world.configure(queues={"queues": [*(queues or QUEUES)]}, preemption=section)


def submit(world: World, queue: str, *wants: str, **more: Any) -> tuple[int, ...]:
    """Submit a set to a queue, whose recipes want these systems; return the recipes."""
    submitted = {"queue": f"root.{queue}", **more.pop("submitted", {})}
    ids = world.submit_set([named(*want) for want in wants], submitted=submitted, **more)
    world.settle()
    return ids


def placed_on(world: World, recipe_id: int) -> str | None:
    return world.recipes[recipe_id].system


def test_preemption__queue_below_its_guarantee__takes_a_system_after_its_time(world: World) -> None:
    world.add_idle("a", "b")
    configure(world)
    first, second = (submit(world, "own", fqdn, submitted={"preemptible": True})[0] for fqdn in "ab")
    (taking,) = submit(world, "urgent", "ab")
    nothing_expires(world, DUE)
    found = tick(world, 1)
    assert (found.causes, found.findings.preemptions) == (["timer/preemption/3"], 1)
    # Of equal priorities the set that was submitted later gives way.
    assert (world.states(first, second, taking), placed_on(world, taking)) == (
        ["waiting", "queued", "waiting"],
        "b",
    )
    queued = [each.event for each in world.log if each.subject == f"recipe/{second}"][-1]
    assert isinstance(queued, RecipeQueued) and queued.preempted_by == 3
    assert world.recipes[second].attempt == 2


def test_victim__another_system_is_idle__gets_it(world: World) -> None:
    world.add_idle("b")
    configure(world)
    (victim,) = submit(world, "own", "ab", submitted={"preemptible": True})
    world.add_idle("a")
    (taking,) = submit(world, "urgent", "b")
    nothing_expires(world, DUE)
    tick(world, 1)
    world.settle()
    assert (placed_on(world, victim), placed_on(world, taking)) == ("a", "b")


def test_preemption__victim__keeps_its_place_in_the_queue(world: World) -> None:
    world.add_idle("a")
    configure(world)
    (victim,) = submit(world, "own", "a", submitted={"preemptible": True})
    (behind,) = submit(world, "own", "a")
    (taking,) = submit(world, "urgent", "a")
    tick(world, DUE)
    assert world.states(victim, behind, taking) == ["queued", "queued", "waiting"]
    world.complete(taking)
    world.settle()
    assert world.states(victim, behind) == ["waiting", "queued"]


SPARED: dict[str, dict[str, Any]] = {
    "has started": {},
    "has a higher priority": {"priority": "High", "submitted": {"preemptible": True}},
    "is of the same job": {"job_id": 2, "submitted": {"preemptible": True}},
}


@pytest.mark.parametrize("case", SPARED)
def test_preemption__set_is_no_victim__nothing_happens(world: World, case: str) -> None:
    world.add_idle("a")
    configure(world)
    submit(world, "own", "a", **SPARED[case])
    submit(world, "urgent", "a", job_id=2)
    assert tick(world, 1_000).findings.preemptions == 0


def test_preemption__victims_queue_would_fall_below_its_guarantee__nothing_happens(
    world: World,
) -> None:
    world.add_idle("a")
    configure(world)
    submit(world, "low", "a", submitted={"preemptible": True})
    submit(world, "urgent", "a")
    assert tick(world, 1_000).findings.preemptions == 0


def test_preemption__fence_between_the_queues__nothing_happens(world: World) -> None:
    world.add_idle("a")
    configure(world, {"name": "urgent", "guaranteed": 2}, {"name": "own", "fence": True})
    submit(world, "own", "a", submitted={"preemptible": True})
    submit(world, "urgent", "a")
    assert tick(world, 1_000).findings.preemptions == 0


def test_preemption__off_or_stopped__nothing_happens(world: World) -> None:
    world.add_idle("a")
    configure(world, enabled=False)
    submit(world, "own", "a", submitted={"preemptible": True})
    submit(world, "urgent", "a")
    assert tick(world, 1_000).findings.preemptions == 0
    configure(world)
    world.settle()
    world.move_partition("stop")
    assert run_loop(world).decisions == []


def test_preemption__job_was_preempted_as_often_as_allowed__is_spared(world: World) -> None:
    world.add_idle("a")
    configure(world, most_per_job=1)
    (victim,) = submit(world, "own", "a", submitted={"preemptible": True})
    (first,) = submit(world, "urgent", "a")
    tick(world, DUE)
    world.complete(first)
    world.settle()
    assert world.states(victim) == ["waiting"]
    submit(world, "urgent", "a")
    assert tick(world, 1_000).findings.preemptions == 0


def test_preemption__sets_that_have_not_started__give_way_first_and_as_whole_sets(world: World) -> None:
    world.add_idle("a", "b", "c", "x")
    configure(world)
    busy = submit(world, "own", "x")
    (started,) = submit(world, "own", "b", submitted={"preemptible": True}, priority="Low")
    holder = submit(world, "own", "a", "c", "x")
    assert world.states(*holder) == ["scheduled", "scheduled", "assigned"]
    (taking,) = submit(world, "urgent", "ab")
    assert tick(world, DUE).findings.preemptions == 1
    assert placed_on(world, taking) == "a"
    assert world.states(*busy, started) == ["waiting", "waiting"]
    preempted = [
        each.subject
        for each in world.log
        if isinstance(each.event, RecipeQueued) and each.event.preempted_by is not None
    ]
    assert preempted == [f"recipe/{each}" for each in holder]
    # What the taking set does not need is free again.
    assert [world.recipes[each].attempt for each in holder] == [1, 1, 1]
    assert placed_on(world, holder[1]) == "c"


def test_preemption__set_needs_two_systems__takes_them_of_two_sets_at_once(world: World) -> None:
    world.add_idle("a", "b", "c")
    configure(world)
    victims = [submit(world, "own", fqdn, submitted={"preemptible": True})[0] for fqdn in "abc"]
    taking = submit(world, "urgent", "ab", "ab")
    assert tick(world, DUE).findings.preemptions == 1
    assert world.states(*victims, *taking) == ["queued", "queued", "waiting", "waiting", "waiting"]


def test_preemption__one_system_is_enough__one_victim(world: World) -> None:
    world.add_idle("a", "b", "c")
    configure(world)
    for fqdn in "abc":
        submit(world, "own", fqdn, submitted={"preemptible": True})
    submit(world, "urgent", "c")
    tick(world, DUE)
    assert world.states()[:3] == ["waiting", "waiting", "queued"]
