"""Preemption beside other rules: guarantees of queues above, limits, and other decisions of the same run."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from domain.recipe_set.messages import ReportInstalling
from domain.scheduling.decisions.preemption import MAX_TRIES
from domain.scheduling.decisions.timers import Findings, LoopInput, correct
from replay.audit import check, from_recorded
from tests.domain.scheduling.consistency_loop import Tick, run_loop, tick
from tests.domain.scheduling.host_requirements import named
from tests.domain.scheduling.world import World

DUE = 30
URGENT, OWN = {"name": "urgent", "guaranteed": 2}, {"name": "own"}


def configure(world: World, *queues: dict[str, Any], **section: Any) -> None:
    sections = {"queues": {"queues": list(queues)}, "preemption": {"enabled": True, **section}}
    world.configure(**sections)


def submit(world: World, queue: str, *wants: str, **more: Any) -> tuple[int, ...]:
    """Submit a preemptible set to a queue, whose recipes want these systems; return the recipes."""
    submitted = {"queue": f"root.{queue}", "preemptible": True}
    ids = world.submit_set([named(*want) for want in wants], submitted=submitted, **more)
    world.settle()
    return ids


def checked_tick(world: World, after_seconds: float = DUE) -> Tick:
    found = tick(world, after_seconds)
    assert list(check(from_recorded(world.log))) == []
    return found


def test_preemption__set_of_the_same_queue__is_no_victim(world: World) -> None:
    world.add_idle("a")
    configure(world, URGENT, OWN)
    first, second = submit(world, "urgent", "a")[0], submit(world, "urgent", "a")[0]
    assert checked_tick(world).findings.preemptions == 0
    assert world.states(first, second) == ["waiting", "queued"]


def test_preemption__many_sets_before_it_find_no_victims__is_tried_all_the_same(world: World) -> None:
    world.add_idle("a", "b")
    configure(world, URGENT, OWN)
    submit(world, "own", "a", priority="High")
    submit(world, "own", "b")
    for _ in range(MAX_TRIES + 1):
        submit(world, "urgent", "a")
    (behind,) = submit(world, "urgent", "b")
    assert checked_tick(world).findings.preemptions == 1
    assert world.states(behind) == ["waiting"]


def test_preemption__other_triggers_are_unanswered__happens_all_the_same(world: World) -> None:
    world.add_idle("a")
    configure(world, URGENT, OWN)
    submit(world, "own", "a")
    (taking,) = submit(world, "urgent", "a")
    world.now += timedelta(seconds=DUE)
    world.submit_set([named("a")], submitted={"queue": "root.own"})
    assert world.partition.triggers
    assert run_loop(world).findings.preemptions == 1
    world.settle()
    assert world.states(taking) == ["waiting"]
    assert list(check(from_recorded(world.log))) == []


def test_preemption__two_sets_of_a_job_in_one_plan__both_count_for_the_job(world: World) -> None:
    world.add_idle("a", "b")
    configure(world, URGENT, OWN, most_per_job=1)
    for fqdn in "ab":
        submit(world, "own", fqdn, job_id=50)
    submit(world, "urgent", "a", "b")
    assert checked_tick(world).findings.preemptions == 0


def test_preemption__first_one_of_a_run_takes_the_room__second_one_waits(world: World) -> None:
    world.add_idle("a", "b")
    configure(world, {**URGENT, "limits": [{"user": "*", "max": 1}]}, OWN)
    for fqdn in "ab":
        submit(world, "own", fqdn)
    takings = [submit(world, "urgent", fqdn)[0] for fqdn in "ab"]
    assert checked_tick(world).findings.preemptions == 1
    assert world.states(*takings) == ["waiting", "queued"]


def test_preemption__system_comes_free_in_the_same_run__no_victim(world: World) -> None:
    world.add_idle("a", "b")
    configure(world, URGENT, OWN)
    (late,) = submit(world, "own", "a")
    world.report(late, ReportInstalling())
    world.now += timedelta(seconds=10_700)
    (spared,) = submit(world, "own", "b")
    (taking,) = submit(world, "urgent", "ab")
    assert checked_tick(world, 110).causes == [f"timer/watchdog/{late}"]
    assert world.states(spared, taking) == ["waiting", "waiting"]


def test_preemption__victim_has_more_systems__the_rest_serves_the_next_set_without_victims(
    world: World,
) -> None:
    world.add_idle("a", "b", "c")
    configure(world, URGENT, OWN)
    (other,) = submit(world, "own", "c")
    submit(world, "own", "a", "b")
    submit(world, "urgent", "a")
    submit(world, "urgent", "bc")
    assert checked_tick(world).causes == ["timer/preemption/3"]
    assert world.states(other) == ["waiting"]


def test_preemption__victim_gives_room_under_a_maximum_above_both__takes_place(world: World) -> None:
    world.add_idle("a", "b", "c")
    configure(world, {"name": "parent", "max": 2, "queues": [{**URGENT, "guaranteed": 1}, OWN]})
    first, second = (submit(world, "parent.own", fqdn)[0] for fqdn in "ab")
    (taking,) = submit(world, "parent.urgent", "abc")
    assert world.states(taking) == ["queued"]
    assert checked_tick(world).findings.preemptions == 1
    assert world.states(first, second, taking) == ["waiting", "queued", "waiting"]


def test_preemption__victim_gives_the_room_of_its_job__takes_place(world: World) -> None:
    world.add_idle("a", "b")
    configure(world, {"name": "parent", "max_jobs": 1, "queues": [URGENT, OWN]})
    victims = [submit(world, "parent.own", fqdn, job_id=50)[0] for fqdn in "ab"]
    (taking,) = submit(world, "parent.urgent", "a")
    assert checked_tick(world).findings.preemptions == 1
    assert world.states(*victims, taking) == ["queued", "queued", "waiting"]


def test_preemption__no_victim_gives_the_room__nothing_happens(world: World) -> None:
    world.add_idle("a", "b")
    configure(world, {**URGENT, "limits": [{"user": "*", "max": 1}]}, OWN)
    submit(world, "urgent", "b")
    submit(world, "own", "a")
    submit(world, "urgent", "a")
    assert checked_tick(world, 1_000).findings.preemptions == 0


def test_preemption__queue_above_both_would_fall_below_its_guarantee__nothing_happens(world: World) -> None:
    world.add_idle("a", "b", "c")
    below = [{"name": "urgent", "guaranteed": 1}, OWN]
    configure(world, {"name": "parent", "guaranteed": 3, "queues": below})
    submit(world, "parent.own", "a", "b", "c")
    submit(world, "parent.urgent", "a")
    assert checked_tick(world, 1_000).findings.preemptions == 0


def test_preemption__decision_lost__counts_and_times_are_as_before(world: World) -> None:
    world.add_idle("a", "b")
    configure(world, URGENT, OWN)
    submit(world, "own", "a")
    submit(world, "urgent", "a")
    tick(world, DUE)
    submit(world, "own", "b", job_id=1)
    submit(world, "urgent", "b")
    world.now += timedelta(seconds=DUE)
    world.settle()
    preemptions, log = world.partition.sets.preemptions, len(world.log)
    before = preemptions.plain()
    assert before[0] == [(1, 1)]
    decisions = correct(world.partition, LoopInput(world.now, {}), Findings())
    assert [each.trigger.cause for each in decisions] == ["timer/preemption/4"]
    assert preemptions.of_job == {1: 2}
    world.partition.rollback()
    assert (preemptions.plain(), len(world.log)) == (before, log)


def test_preemption__victim_gets_its_turn__never_preempts_the_set_that_preempted_it(world: World) -> None:
    world.add_idle("a", "b", "x")
    configure(world, {"name": "urgent", "guaranteed": 1}, {"name": "other", "guaranteed": 1})
    (ended,) = submit(world, "other", "b")
    (victim,) = submit(world, "other", "a")
    (taking,) = submit(world, "urgent", "a")
    assert checked_tick(world).findings.preemptions == 1
    submit(world, "urgent", "x")
    world.complete(ended)
    world.settle()
    # Now the queue of the victim is below its guarantee, and that of the taking set above.
    assert checked_tick(world, 1_000).findings.preemptions == 0
    assert world.states(victim, taking) == ["queued", "waiting"]


def test_preemption__victim_could_have_an_idle_system__gets_it_next(world: World) -> None:
    world.add_idle("a", "b")
    configure(world, URGENT, OWN)
    world.drain("b")
    (victim,) = submit(world, "own", "ab")
    world.undrain("b")
    world.settle()
    (taking,) = submit(world, "urgent", "a")
    assert checked_tick(world).findings.preemptions == 1
    assert (world.system_of(taking), world.system_of(victim)) == ("a", "b")
    assert run_loop(world).decisions == []


def test_preemption__victim_waits_for_locks__gives_way(world: World) -> None:
    world.add_idle("a", "b")
    configure(world, URGENT, OWN)
    locks = [{"network": {"Exclusive": ["vlan-12"]}}]
    submit(world, "own", "b", locks_of=locks)
    (victim,) = submit(world, "own", "a", locks_of=locks)
    assert world.recipes[victim].awaits_locks
    submit(world, "urgent", "a")
    assert checked_tick(world).findings.preemptions == 1
    assert (world.states(victim), world.recipes[victim].attempt) == (["queued"], 1)


def test_preemption__victim_holds_locks__taking_set_starts_with_them(world: World) -> None:
    world.add_idle("a")
    configure(world, URGENT, OWN)
    locks = [{"network": {"Exclusive": ["vlan-12"]}}]
    submit(world, "own", "a", locks_of=locks)
    (taking,) = submit(world, "urgent", "a", locks_of=locks)
    assert checked_tick(world).findings.preemptions == 1
    assert world.recipes[taking].started
