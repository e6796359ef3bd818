"""Sets that depend on other jobs and sets: they wait, go on or end, whenever the outcome comes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import combinations
from typing import Any

import pytest

from domain.admission.dependencies import FINAL_STATES
from domain.recipe.events import RecipeQueued
from domain.scheduling.world.triggers import ADMISSION
from tests.domain.scheduling.contents import check_indexes
from tests.domain.scheduling.dependents import on
from tests.domain.scheduling.effort import lab_of
from tests.domain.scheduling.host_requirements import ANYTHING, named
from tests.domain.scheduling.labs import finish, occupy
from tests.domain.scheduling.world import World

KINDS = ("job", "recipe_set")
NAMED = [states for count in (1, 2, 3) for states in combinations(FINAL_STATES, count)]
ENDS: Mapping[str, Callable[[World, int], None]] = {
    "completed": World.complete,
    "cancelled": World.cancel,
    "aborted": World.abort,
}
NOWHERE = named("nowhere")


def after_any(world: World, *recipe_ids: int) -> dict[str, Any]:
    """Return the field of a set that goes on when the sets of these recipes have ended."""
    sets = [world.recipes[recipe_id].recipe_set_id for recipe_id in recipe_ids]
    return {"depends_on": [{"recipe_set": number, "states": FINAL_STATES} for number in sets]}


@pytest.fixture
def runs(world: World) -> int:
    """Return a recipe that runs on a; its job and set are number 1. System b is idle."""
    world.add_idle("a", "b")
    (running,) = occupy(world, "a").values()
    assert world.recipes[running].job_id == world.recipes[running].recipe_set_id == 1
    return running


def submit_before(world: World, runs: int, end: Callable[[World, int], None], depends: Any) -> int:
    """Submit the dependent set long after the end."""
    end(world, runs)
    world.settle()
    occupy(world, "a")
    return world.submit(named("b"), submitted=depends)


def submit_just_before(world: World, runs: int, end: Callable[[World, int], None], depends: Any) -> int:
    """Let the scheduler read the end and the submission at once."""
    end(world, runs)
    return world.submit(named("b"), submitted=depends)


def submit_just_after(world: World, runs: int, end: Callable[[World, int], None], depends: Any) -> int:
    """Let the scheduler read the submission and the end at once."""
    recipe_id = world.submit(named("b"), submitted=depends)
    end(world, runs)
    return recipe_id


def submit_after(world: World, runs: int, end: Callable[[World, int], None], depends: Any) -> int:
    """Let the dependent set wait before the end."""
    recipe_id = world.submit(named("b"), submitted=depends)
    world.settle()
    assert world.states(recipe_id) == ["queued"]
    end(world, runs)
    return recipe_id


def submit_during_decision(world: World, runs: int, end: Callable[[World, int], None], depends: Any) -> int:
    """Let the end come while the decision on the dependent set is on its way to the log."""
    recipe_id = world.submit(named("b"), submitted=depends)
    basis, decisions = world.position, world.decide(limit=1)
    end(world, runs)
    assert not world.in_conflict(decisions)
    world.commit_decisions(decisions, basis)
    assert world.states(recipe_id) == ["queued"]
    return recipe_id


def restart_while_waiting(world: World, runs: int, end: Callable[[World, int], None], depends: Any) -> int:
    recipe_id = world.submit(named("b"), submitted=depends)
    world.settle()
    world.restart()
    end(world, runs)
    return recipe_id


def restart_before_the_answer(
    world: World, runs: int, end: Callable[[World, int], None], depends: Any
) -> int:
    recipe_id = submit_after(world, runs, end, depends)
    world.restart()
    return recipe_id


def restart_after_the_end(world: World, runs: int, end: Callable[[World, int], None], depends: Any) -> int:
    end(world, runs)
    world.settle()
    world.restart()
    return world.submit(named("b"), submitted=depends)


MOMENTS = [
    submit_before,
    submit_just_before,
    submit_just_after,
    submit_after,
    submit_during_decision,
    restart_while_waiting,
    restart_before_the_answer,
    restart_after_the_end,
]


def expected_state(outcome: str, states: tuple[str, ...]) -> str:
    if outcome in states:
        return "waiting"
    return "cancelled" if outcome == "cancelled" else "aborted"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("states", NAMED, ids="-".join)
@pytest.mark.parametrize("outcome", FINAL_STATES)
@pytest.mark.parametrize("moment", MOMENTS)
def test_dependent__of_an_ended_job_or_set__goes_on_or_ends(
    world: World, runs: int, moment: Any, outcome: str, states: tuple[str, ...], kind: str
) -> None:
    recipe_id = moment(world, runs, ENDS[outcome], on(kind, 1, *states))
    world.settle()
    check_indexes(world.partition)
    assert world.states(runs, recipe_id) == [outcome, expected_state(outcome, states)]


@pytest.mark.parametrize("kind", KINDS)
def test_dependent__until_the_end__is_queued_with_the_reason_and_takes_nothing(
    world: World, runs: int, kind: str
) -> None:
    recipe_id = world.submit(ANYTHING.text, submitted=on(kind, 1))
    world.settle()
    shown = {"job": "job 1", "recipe_set": "recipe set 1"}[kind]
    (event,) = (row.event for row in world.log if isinstance(row.event, RecipeQueued))
    assert event.reason == f"{shown}, its dependency, has not ended"
    # It is not counted among the recipes that could take a system, and other recipes pass.
    assert world.partition.filters.demand_counts().value(1) == 0
    later = world.submit(named("b"))
    world.settle()
    assert world.states(recipe_id, later) == ["queued", "waiting"]
    finish(world, later)
    assert world.states(recipe_id) == ["queued"]
    finish(world, runs)
    assert world.states(recipe_id) == ["waiting"]


@pytest.mark.parametrize(
    ("outcome", "reason"),
    [
        ("cancelled", "job 1, its dependency, was cancelled, not completed"),
        ("aborted", "job 1, its dependency, was aborted, not completed"),
    ],
)
def test_dependent__ends_with_its_dependency__the_event_has_the_reason_and_the_cause(
    world: World, runs: int, outcome: str, reason: str
) -> None:
    recipe_id = submit_after(world, runs, ENDS[outcome], on("job", 1, "completed"))
    end = [row for row in world.log if row.subject == f"recipe/{runs}"][-1]
    (ended,) = (each for each in world.settle() if each.trigger.kind == ADMISSION)
    assert ended.trigger.cause == f"event/{end.position}"
    ((subject, event),) = ended.events
    assert (subject, event.TOPIC, event.reason) == (  # type: ignore[attr-defined]
        f"recipe/{recipe_id}",
        f"recipe.{outcome}",
        reason,
    )


def test_dependents__of_dependents__end_one_after_another(world: World, runs: int) -> None:
    first = world.submit(named("b"), submitted=on("recipe_set", 1, "completed"))
    second = world.submit(named("b"), submitted=on("recipe_set", 2, "completed"))
    third = world.submit(named("b"), submitted=on("recipe_set", 3, "cancelled"))
    world.settle()
    world.cancel(runs)
    world.settle()
    assert world.states(first, second, third) == ["cancelled", "cancelled", "waiting"]


def test_dependent__of_a_set_that_ends_in_the_same_commit__is_decided_by_it(world: World, runs: int) -> None:
    impossible = world.submit(NOWHERE, priority="Urgent")
    recipe_id = world.submit(named("b"), submitted=on("recipe_set", 2, "completed"))
    other = world.submit(named("b"), submitted=on("recipe_set", 2, "aborted"))
    world.commit_decisions(world.decide(limit=3), world.position)
    assert world.states(impossible, recipe_id, other) == ["aborted", "aborted", "waiting"]


def test_dependent__rolled_back_with_the_end_of_its_dependency__waits_again(world: World, runs: int) -> None:
    world.submit(NOWHERE, priority="Urgent")
    recipe_id = world.submit(named("b"), submitted=on("recipe_set", 2, "aborted"))
    assert len(world.decide(limit=3)) == 2
    check_indexes(world.partition)
    assert world.partition.sets.admission.held_back.keys() == {world.recipes[recipe_id].recipe_set_id}
    world.settle()
    assert world.states(recipe_id) == ["waiting"]


def test_job__of_several_sets__has_ended_with_its_last_set_in_the_worst_state(world: World) -> None:
    for outcomes, expected in (
        (("completed", "completed"), "completed"),
        (("cancelled", "completed"), "cancelled"),
        (("cancelled", "aborted", "completed"), "aborted"),
    ):
        start = len(world.systems)
        names = [f"m{start + number}" for number in range(len(outcomes) + 1)]
        world.add_idle(*names)
        job_id = len(world.sets) + 1
        sets = [world.submit(named(fqdn), job_id=job_id) for fqdn in names[1:]]
        world.settle()
        dependents = [
            world.submit(named(names[0]), submitted=on("job", job_id, state)) for state in FINAL_STATES
        ]
        world.settle()
        for recipe_id, outcome in zip(sets, outcomes, strict=True):
            assert world.states(*dependents) == ["queued"] * 3
            ENDS[outcome](world, recipe_id)
            world.settle()
            world.restart()
        going_on = [world.recipes[each].state == "waiting" for each in dependents]
        assert going_on == [state == expected for state in FINAL_STATES]
        # Sets that are submitted later see the same outcome.
        late = [world.submit(named(names[1]), submitted=on("job", job_id, state)) for state in FINAL_STATES]
        world.settle()
        assert [world.recipes[each].state == "waiting" for each in late] == going_on
        check_indexes(world.partition)


def test_set__of_several_recipes__has_ended_with_the_last_one_in_the_worst_state(world: World) -> None:
    world.add_idle("a", "b", "c")
    first, second = world.submit_set([named("a"), named("b")])
    world.settle()
    recipe_id = world.submit(named("c"), submitted=on("recipe_set", 1, "aborted"))
    world.settle()
    world.abort(first)
    world.settle()
    world.restart()
    assert world.states(recipe_id) == ["queued"]
    world.complete(second)
    world.settle()
    assert world.states(recipe_id) == ["waiting"]


def test_dependent__of_several__waits_for_all(world: World) -> None:
    world.add_idle("a", "b", "c")
    running = occupy(world, "a", "b")
    recipe_id = world.submit(named("c"), submitted=after_any(world, *running.values()))
    world.settle()
    for runs in running.values():
        assert world.states(recipe_id) == ["queued"]
        finish(world, runs)
    assert world.states(recipe_id) == ["waiting"]


def test_dependent__of_several_when_one_fails__ends_without_the_others(world: World) -> None:
    world.add_idle("a", "b", "c")
    a, b = occupy(world, "a", "b").values()
    depends_on = [{"recipe_set": number, "states": ["completed"]} for number in (1, 2)]
    recipe_id = world.submit(named("c"), submitted={"depends_on": depends_on})
    world.settle()
    world.cancel(b)
    world.settle()
    assert world.states(a, recipe_id) == ["waiting", "cancelled"]


def test_dependent__of_the_same_set_twice__needs_a_state_that_both_name(world: World, runs: int) -> None:
    both = [{"recipe_set": 1, "states": states} for states in (["completed", "aborted"], ["aborted"])]
    recipe_id = world.submit(named("b"), submitted={"depends_on": both})
    world.settle()
    world.complete(runs)
    world.settle()
    assert world.states(recipe_id) == ["aborted"]
    check_indexes(world.partition)


def test_dependent__set_of_hosts_and_guests__ends_as_a_whole(world: World, runs: int) -> None:
    hosts = world.submit_set([named("a"), named("b")], guests={0: [1]}, submitted=on("job", 1, "completed"))
    world.settle()
    assert set(world.states(*range(hosts[0], hosts[-1] + 1))) == {"queued"}
    world.abort(runs)
    world.settle()
    assert set(world.states(*range(hosts[0], hosts[-1] + 1))) == {"aborted"}


def test_dependent__cancelled_by_a_person_while_it_waits__is_gone(world: World, runs: int) -> None:
    recipe_id = submit_after(world, runs, lambda world, _: None, on("job", 1))
    world.cancel(recipe_id)
    world.settle()
    finish(world, runs)
    assert world.states(recipe_id) == ["cancelled"]
    check_indexes(world.partition)


def test_dependent__priority_changed_while_it_waits__counts_when_it_goes_on(world: World, runs: int) -> None:
    (busy,) = occupy(world, "b").values()
    recipe_id = submit_after(world, runs, lambda world, _: None, on("job", 1))
    other = world.submit(named("b"))
    world.settle()
    world.change_priority(recipe_id, "High")
    finish(world, runs, busy)
    assert world.states(recipe_id, other) == ["waiting", "queued"]


def test_dependent__could_never_run__is_aborted_at_once(world: World, runs: int) -> None:
    recipe_id = world.submit(NOWHERE, submitted=on("job", 1))
    world.settle()
    assert world.states(recipe_id) == ["aborted"]


@pytest.mark.parametrize("waiting", [3, 300])
def test_effort__beside_sets_that_wait_for_a_dependency__is_the_same(waiting: int) -> None:
    world = lab_of(3, busy=True, queued=0)
    runs = next(iter(world.in_state("waiting"))).recipe_id
    for _ in range(waiting):
        world.submit(ANYTHING.text, submitted=after_any(world, runs))
    world.settle()
    (other, *_) = (each.recipe_id for each in world.in_state("waiting") if each.recipe_id != runs)
    world.complete(other)
    effort = world.partition.effort
    effort.evaluations = effort.rows = 0
    world.settle()
    assert (effort.evaluations, effort.rows) == (0, 0)
