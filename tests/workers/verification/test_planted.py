"""Faults planted in a log: `labledger replay verify` finds each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from domain.events import Basis, Recorded, Stamp
from domain.job.events import JobChanged
from domain.partition_numbers import partition_of
from domain.recipe import events as recipe_events
from domain.scheduling.decisions.decide import POLICY_VERSION
from domain.system import events as system_events
from tests.domain.scheduling.host_requirements import forces, named
from tests.domain.scheduling.policies import everybody, group
from tests.domain.scheduling.world import World
from tests.harness.databases import TestDatabase
from tests.replay.audit.access_events import into_pool, lent, own_policy, pool_policy
from tests.replay.audit.moves import Pair, assigned, grant, place, start
from tests.replay.verify.queue_of_three import busy, with_queue_jump
from tests.workers.verification.command import different, found
from tests.workers.verification.labs import lab
from tests.workers.verification.stored import store

Plant = Callable[[World], None]

# The first policy with access rules.
BY_ACCESS = 4


def happen(world: World, pairs: Sequence[Pair], stamp: Stamp) -> None:
    """Append events to the log without any check."""
    first, partition = world.position + 1, partition_of(subject for subject, _ in pairs)
    for offset, (subject, event) in enumerate(pairs):
        version = 1 + sum(row.subject == subject for row in world.log)
        last = first + len(pairs) - 1
        at = first + offset
        world.log.append(Recorded(at, last, world.now, subject, version, event, stamp, partition))


def reported(world: World, *pairs: Pair) -> None:
    happen(world, pairs, Stamp(world.now, "lab", "request/1"))


def decided(world: World, *pairs: Pair, epoch: int = 1, policy: int = POLICY_VERSION) -> None:
    basis = Basis(world.position, world.now, epoch, policy)
    happen(world, pairs, Stamp(world.now, "scheduler", f"event/{world.position}", basis, 0))


# Wrong decisions of the scheduler


def grants_twice(world: World) -> None:
    decided(world, *place(2, "a"))


def grants_in_two_labs(world: World) -> None:
    first, second = world.submit_set([named("b"), named("c")])
    decided(world, *grant(first, "b"), *grant(second, "c", "lab-2"), *start(first, "b"), *start(second, "c"))


def grants_unsafely(world: World) -> None:
    """Grant one system of a set whose second system is broken."""
    world.add_system("e", condition="Broken")
    first, second = world.submit_set([named("b"), named("e")])
    decided(world, *grant(first, "b"), assigned(second))


def grants_without_access(world: World) -> None:
    """Grant a system that is for a group to a user who is not a member."""
    reported(world, own_policy("b", group("qe")))
    recipe_id = world.submit(named("b"), owner="bob")
    decided(world, *place(recipe_id, "b"), policy=BY_ACCESS)


def grants_what_is_lent(world: World) -> None:
    reported(world, lent("b", "eve"))
    recipe_id = world.submit(named("b"), owner="bob")
    decided(world, *place(recipe_id, "b"), policy=BY_ACCESS)


def grants_by_nominal_priority(world: World) -> None:
    """Grant a to an Urgent recipe that is Medium there, before a High one."""
    reported(world, into_pool("big", "a"))
    reported(world, pool_policy("big", group("qe"), everybody("Medium")))
    for priority, whose in (("High", "qe"), ("Urgent", None)):
        (waiting,) = world.submit_set([named("a")], priority=priority, owner="bob", group=whose)
        world.settle()
    world.complete(1)
    decided(world, *place(waiting, "a"), policy=BY_ACCESS)


def grants_what_is_occupied(world: World) -> None:
    world.tell_running("b")
    recipe_id = world.submit(named("b"))
    decided(world, *place(recipe_id, "b"))


def passes_a_claim_over(world: World) -> None:
    """Grant a to an Urgent recipe as it comes free, although another recipe claims it."""
    world.submit(forces("a"), priority="Low")
    world.settle()
    urgent = world.submit(named("a"), priority="Urgent")
    world.settle()
    world.complete(1)
    decided(world, *place(urgent, "a"))


# Wrong events without a decision


def leaves_the_system_behind(world: World) -> None:
    reported(world, ("recipe/1", recipe_events.RecipeInstalling(system="a")))


def frees_the_system_alone(world: World) -> None:
    reported(world, ("system/a", system_events.SystemIdle()))


def skips_a_state(world: World) -> None:
    running = recipe_events.RecipeRunning(system="a"), system_events.SystemRunning(recipe_id=1)
    reported(world, ("recipe/1", running[0]), ("system/a", running[1]))


def says_another_time(world: World) -> None:
    """Record a decision whose events have another time than its basis."""
    basis = Basis(world.position, world.now, 1, POLICY_VERSION)
    later = world.now + timedelta(seconds=1)
    happen(world, place(2, "a"), Stamp(later, "scheduler", f"event/{world.position}", basis, 0))


DECIDED = {
    grants_twice: "one_recipe_per_system",
    grants_in_two_labs: "one_lab_per_set",
    grants_unsafely: "no_unsafe_grant",
    says_another_time: "decisions",
    grants_without_access: "allowed_grant",
    grants_what_is_lent: "lent_system",
    grants_by_nominal_priority: "nobody_jumped",
    grants_what_is_occupied: "usable_grant",
    passes_a_claim_over: "nobody_jumped",
}
REPORTED = {
    leaves_the_system_behind: "in_step",
    frees_the_system_alone: "in_step",
    skips_a_state: "legal_transitions",
}


@pytest.mark.soak
def test_verify__lab_without_a_fault__finds_none(database: TestDatabase) -> None:
    store(database, lab().log)
    answer = found(database, status=0)
    assert different(answer) == [0, 0]
    assert answer["audit"]["broken"] == 0


# Each test starts four processes: one fault of each kind here, all of them in a soak.
SOON = (grants_unsafely, frees_the_system_alone)


def planted(faults: dict[Plant, str]) -> pytest.MarkDecorator:
    marked = [plant if plant in SOON else pytest.param(plant, marks=pytest.mark.soak) for plant in faults]
    return pytest.mark.parametrize("plant", marked)


@planted(DECIDED)
def test_verify__wrong_decision__audit_names_the_broken_rule(database: TestDatabase, plant: Plant) -> None:
    world = lab()
    plant(world)
    store(database, world.log)
    audit = found(database, status=1)["audit"]
    assert DECIDED[plant] in audit["by_invariant"]
    assert all(violation["positions"] for violation in audit["violations"])


@planted(REPORTED)
def test_verify__wrong_report__is_found_by_the_audit_alone(database: TestDatabase, plant: Plant) -> None:
    world = lab()
    plant(world)
    store(database, world.log)
    answer = found(database, status=1)
    assert different(answer) == [0, 0]
    assert REPORTED[plant] in answer["audit"]["by_invariant"]


@pytest.mark.soak
def test_verify__queue_jump__both_find_it(database: TestDatabase) -> None:
    store(database, with_queue_jump(busy().log))
    answer = found(database, status=1)
    assert different(answer) == [1, 1]
    assert answer["audit"]["by_invariant"] == {"nobody_jumped": 1}


@pytest.mark.soak
def test_verify__decision_with_a_skipped_event__is_a_difference(database: TestDatabase) -> None:
    world = lab()
    decided(world, ("job/1", JobChanged(whiteboard="", retention_tag="scratch", product=None)))
    store(database, world.log)
    assert different(found(database, status=1)) == [1, 1]


@pytest.mark.soak
def test_verify__fenced_holder_writes__is_found_by_the_audit_alone(database: TestDatabase) -> None:
    """Append a correct decision of a scheduler after a later holder of the lease has decided."""
    log = busy().log
    (used, *_) = (row.commit_end for row in log if row.stamp.basis)

    def by_another(row: Recorded) -> Recorded:
        assert row.stamp.basis is not None
        return row._replace(stamp=replace(row.stamp, basis=replace(row.stamp.basis, epoch=2)))

    store(database, [by_another(row) if row.commit_end == used else row for row in log])
    answer = found(database, status=1)
    assert different(answer) == [0, 0]
    assert set(answer["audit"]["by_invariant"]) == {"nobody_fenced_writes"}
