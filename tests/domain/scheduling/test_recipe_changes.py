"""Recipes that people change while they wait: the indexes follow, and a system that does not fit is lost."""

from __future__ import annotations

from typing import Any

import pytest

from domain.errors import Refused
from domain.recipe.events import RecipeAssigned, RecipeQueued
from tests.domain.scheduling.contents import check_indexes
from tests.domain.scheduling.host_requirements import ANYTHING, forces, named
from tests.domain.scheduling.labs import occupy
from tests.domain.scheduling.world import World

NETWORK = {"network": {"Exclusive": ["n1"]}}


def reason_of(world: World, recipe_id: int) -> str:
    events = [each.event for each in world.log if each.subject == f"recipe/{recipe_id}"]
    last = [event for event in events if isinstance(event, RecipeQueued | RecipeAssigned)][-1]
    return last.reason or ""


@pytest.fixture
def holder(world: World) -> tuple[int, int]:
    """Return a set that has a and waits for b, which is in use. System c is idle."""
    world.add_idle("a", "b", "c")
    occupy(world, "b")
    recipes = world.submit_set([named("a"), named("b")])
    world.settle()
    assert world.states(*recipes) == ["scheduled", "assigned"]
    return recipes[0], recipes[1]


def test_changed__new_requirement__the_recipe_takes_what_fits_now(
    world: World, holder: tuple[int, int]
) -> None:
    world.change_recipe(holder[1], host_requires=named("c"))
    check_indexes(world.partition)
    world.settle()
    assert [world.system_of(recipe_id) for recipe_id in holder] == ["a", "c"]
    assert world.states(*holder) == ["waiting", "waiting"]


def test_changed__its_system_does_not_fit_any_more__the_recipe_loses_it_with_the_reason(
    world: World, holder: tuple[int, int]
) -> None:
    world.change_recipe(holder[0], host_requires=named("b", "x"))
    assert world.states(*holder) == ["queued", "queued"]
    assert world.systems["a"].usage == "pending"
    assert reason_of(world, holder[0]) == "a does not fit the changed recipe: it does not match"
    check_indexes(world.partition)
    world.settle()
    assert world.systems["a"].usage == "idle"


@pytest.mark.parametrize("condition", ["Broken", "Manual"])
def test_changed__does_not_force_its_system_any_more__loses_it_unless_it_is_automated(
    world: World, condition: str
) -> None:
    world.add_idle("b")
    world.add_system("m", condition=condition)
    occupy(world, "b")
    recipes = world.submit_set([forces("m"), named("b")])
    world.settle()
    world.change_recipe(recipes[0])
    assert world.states(*recipes) == ["scheduled", "assigned"]
    world.change_recipe(recipes[0], host_requires=named("m"))
    assert world.states(*recipes) == ["queued", "queued"]
    assert world.systems["m"].usage == "idle"
    reason = f"m does not fit the changed recipe: it is {condition}, and the recipe no longer forces it"
    assert reason_of(world, recipes[0]) == reason
    check_indexes(world.partition)


def test_changed__did_not_force_its_system__keeps_it_although_it_is_manual(
    world: World, holder: tuple[int, int]
) -> None:
    world.set_condition("a", "Manual")
    world.change_recipe(holder[0], host_requires=named("a", "x"))
    assert world.states(*holder) == ["scheduled", "assigned"]


def test_changed__other_recipe_of_a_holder_does_not_fit__the_set_keeps_the_rest(world: World) -> None:
    world.add_idle("a", "b", "c")
    occupy(world, "b")
    recipes = world.submit_set([named("a"), named("b"), named("c")])
    world.settle()
    world.change_recipe(recipes[0], host_requires=named("b", "x"))
    assert world.states(*recipes) == ["assigned", "assigned", "scheduled"]
    check_indexes(world.partition)


def test_changed__started_set__is_refused(world: World) -> None:
    world.add_idle("a")
    recipe_id = world.submit(named("a"))
    world.settle()
    with pytest.raises(Refused, match="recipe set 1 has already started"):
        world.change_recipe(recipe_id, host_requires=named("a"))
    world.complete(recipe_id)
    with pytest.raises(Refused, match="is already completed"):
        world.change_recipe(recipe_id, host_requires=named("a"))


def test_changed__tasks_meet_a_job_filter_no_more__the_set_goes_on(world: World) -> None:
    world.add_idle("a")
    world.put_job_filter("no checks", "PAUSE", predicate={"field": "task", "op": "=", "value": "/check"})
    paused = world.submit(named("a"), submitted={"tasks": ["/check"]})
    world.settle()
    assert world.states(paused) == ["queued"]
    world.change_recipe(paused)
    world.settle()
    assert world.system_of(paused) == "a"


@pytest.mark.parametrize("restarts", [False, True])
def test_changed__locks_given_up_while_the_set_waits_for_them__it_starts(
    world: World, restarts: bool
) -> None:
    world.add_idle("a", "b")
    first = world.submit_set([named("a")], locks_of=[NETWORK])
    second = world.submit_set([named("b")], locks_of=[NETWORK])
    world.settle()
    assert world.recipes[second[0]].awaits_locks
    world.change_recipe(second[0], locks={})
    if restarts:
        world.restart()
    world.settle()
    assert world.recipes[second[0]].started
    assert world.recipes[first[0]].started


def test_changed__any_time__the_indexes_are_those_of_a_fold(world: World) -> None:
    world.add_idle("a", "b")
    world.add_system("c", condition="Broken")
    recipes = [world.submit(named(fqdn)) for fqdn in ("a", "c", "c")]
    held_back = world.submit(ANYTHING.text, submitted={"depends_on": [{"job": 2, "states": ["completed"]}]})
    changes: list[tuple[int, dict[str, Any]]] = [
        (recipes[1], {"host_requires": named("b")}),
        (held_back, {"host_requires": named("a")}),
        (recipes[2], {"locks": NETWORK}),
        (recipes[2], {"distro_tree_id": None, "distro_requires": "{}"}),
    ]
    for recipe_id, fields in changes:
        world.change_recipe(recipe_id, **fields)
        check_indexes(world.partition)
    world.settle()
    check_indexes(world.partition)
