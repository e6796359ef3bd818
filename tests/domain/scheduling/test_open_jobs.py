"""Open jobs: the scheduler closes them some time after their last recipe, and they end only then."""

from __future__ import annotations

from datetime import timedelta

import pytest

from domain.job.events import JobChanged, JobClosed, JobExtended, JobOpened, JobSubmitted
from domain.scheduling.decisions.draft import Decision
from domain.scheduling.decisions.timers import Findings, LoopInput, correct
from domain.scheduling.world.snapshot import pieces
from tests.domain.scheduling.consistency_loop import nothing_expires, tick
from tests.domain.scheduling.dependents import on
from tests.domain.scheduling.host_requirements import named
from tests.domain.scheduling.world import World


@pytest.fixture
def job(world: World) -> int:
    """Submit job 7, which is open and has no set. Systems a and b are idle."""
    world.add_idle("a", "b")
    submitted = JobSubmitted("ada", "ada", None, "", (), {})
    world.commit([("job/7", submitted), ("job/7", JobOpened(()))])
    return 7


def extend(world: World, job_id: int, fqdn: str) -> int:
    """Add a set with one recipe to a job; return the recipe."""
    number = len(world.sets) + 1
    world.commit([(f"job/{job_id}", JobExtended((number,), {"recipe_sets": [{}]}))])
    return world.submit(named(fqdn), job_id=job_id)


def test_open_job__without_a_set__is_closed_after_its_time(world: World, job: int) -> None:
    nothing_expires(world, 30)
    found = tick(world, 1)
    assert (found.causes, found.findings.jobs_closed) == (["timer/job/7"], 1)
    (decision,) = found.decisions
    assert [(subject, type(event)) for subject, event in decision.events] == [("job/7", JobClosed)]
    assert decision.expected == (("job/7", 2),)
    assert tick(world, 100).decisions == []


def test_open_job__last_recipe_ended__is_closed_30_s_later(world: World, job: int) -> None:
    recipes = [extend(world, job, fqdn) for fqdn in ("a", "b")]
    world.settle()
    nothing_expires(world, 1_000)
    world.complete(recipes[0])
    nothing_expires(world, 1_000)
    world.complete(recipes[1])
    nothing_expires(world, 30)
    assert tick(world, 1).causes == ["timer/job/7"]


def test_open_job__a_set_is_added_meanwhile__is_not_closed(world: World, job: int) -> None:
    world.complete(_started(world, extend(world, job, "a")))
    nothing_expires(world, 30)
    second = extend(world, job, "a")
    assert tick(world, 1_000).decisions == []
    world.complete(second)
    nothing_expires(world, 30)
    assert tick(world, 1).causes == ["timer/job/7"]


def test_open_job__is_changed_or_extended_at_the_same_moment__one_wins(world: World, job: int) -> None:
    world.now += timedelta(seconds=30)
    (closed,) = run_loop_only(world)
    world.commit([("job/7", JobChanged("fire", "scratch", None))])
    assert world.in_conflict([closed])
    (closed,) = run_loop_only(world)
    assert not world.in_conflict([closed])
    extend(world, job, "a")
    assert world.in_conflict([closed])
    assert run_loop_only(world) == []


@pytest.mark.parametrize("restarts", [False, True])
def test_open_job__dependent_set__waits_for_the_close(world: World, job: int, restarts: bool) -> None:
    ended = _started(world, extend(world, job, "a"))
    dependent = world.submit(named("b"), submitted=on("job", job))
    world.complete(ended)
    world.settle()
    if restarts:
        world.restart()
    assert world.states(dependent) == ["queued"]
    world.commit([("job/7", JobClosed("closed"))])
    world.settle()
    assert world.system_of(dependent) == "b"


def test_open_job__closed_while_a_recipe_runs__ends_with_it(world: World, job: int) -> None:
    runs = _started(world, extend(world, job, "a"))
    dependent = world.submit(named("b"), submitted=on("job", job))
    world.commit([("job/7", JobClosed("closed"))])
    world.settle()
    assert world.states(dependent) == ["queued"]
    world.complete(runs)
    world.settle()
    assert world.system_of(dependent) == "b"


def test_open_job__closed_without_sets__counts_as_completed(world: World, job: int) -> None:
    dependent = world.submit(named("b"), submitted=on("job", job, "completed"))
    other = world.submit(named("a"), submitted=on("job", job, "aborted"))
    world.settle()
    world.commit([("job/7", JobClosed("closed"))])
    world.settle()
    assert world.system_of(dependent) == "b"
    assert world.states(other) == ["aborted"]


def test_open_jobs__restart__keep_their_time(world: World, job: int) -> None:
    world.complete(_started(world, extend(world, job, "a")))
    world.settle()
    plain = next(iter(pieces(world.partition)))["open_jobs"]
    assert [(one["job_id"], one["version"]) for one in plain] == [(7, 3)]
    nothing_expires(world, 20)
    world.restart()
    nothing_expires(world, 11)
    assert tick(world, 1).causes == ["timer/job/7"]


def _started(world: World, recipe_id: int) -> int:
    world.settle()
    assert world.states(recipe_id) == ["waiting"]
    return recipe_id


def run_loop_only(world: World) -> list[Decision]:
    """Return the decisions of the loop, which are not committed."""
    world.settle()
    decisions = correct(world.partition, LoopInput(world.now, {}), Findings())
    world.partition.rollback()
    return decisions
