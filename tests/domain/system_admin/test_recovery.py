"""Reports of what runs on a system, against each state in the log (design 6)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from domain.contention.locks import NO_LOCKS
from domain.events import Event
from domain.lab_commands.derive import of_system
from domain.recipe import events as recipe_events
from domain.recipe.lifecycle import FINISHED, STARTED
from domain.recipe.state import Recipe
from domain.recipe_set.members import Members
from domain.recipe_set.messages import ReportInstalling, ReportTaskRunning
from domain.system import events as system_events
from domain.system.state import Occupation, Reservation, System
from domain.system_admin.occupation import vacate
from domain.system_admin.recovery import UNNAMED, Running, reported_running
from tests.domain.recipe.samples import system_in
from tests.domain.recipe_set.read_sets import read_set
from tests.domain.recipe_set.samples import recipe_at, system_of

RUNS = Running(1)
BY_ANOTHER = Occupation("recipe 9 runs there, but is completed", 9, None)


def report(recipe: Recipe | None, system: System, said: Running = RUNS, *others: Recipe) -> list[Event]:
    recipes = tuple(each for each in (recipe, *others) if each is not None)
    gathered = read_set(Members(recipes, {}), system)
    return [event for _, event in reported_running(gathered, system, said)]


@pytest.mark.parametrize("state", STARTED)
def test_running__recipe_has_started_there__is_attached(state: str) -> None:
    recipe = recipe_at(1, state, "a")
    assert report(recipe, system_of(recipe)) == []


def test_running__in_a_later_state__the_recipe_moves_on() -> None:
    recipe = recipe_at(1, "waiting", "a")
    system = system_of(recipe)
    installing = [recipe_events.RecipeInstalling("a"), system_events.SystemInstalling(1)]
    assert report(recipe, system, Running(1, report=ReportInstalling())) == installing
    running = [recipe_events.RecipeRunning("a"), system_events.SystemRunning(1), recipe_events.TaskStarted(1)]
    assert report(recipe, system, Running(1, 1, ReportTaskRunning(1))) == [*installing, *running]


@pytest.mark.parametrize("state", ["installing", "running", "reserved"])
def test_running__in_an_earlier_state__nothing(state: str) -> None:
    recipe = recipe_at(1, state, "a")
    assert report(recipe, system_of(recipe), Running(1, report=ReportInstalling())) == []


def test_running__on_an_occupied_system_of_its_own__the_system_is_vacated() -> None:
    recipe = recipe_at(1, "running", "a")
    system = replace(system_of(recipe), occupied=BY_ANOTHER)
    assert report(recipe, system) == [system_events.SystemVacated("recipe 1 runs there")]


@pytest.mark.parametrize("state", FINISHED)
@pytest.mark.parametrize("usage", ["idle", "pending"])
def test_running__recipe_has_finished__system_is_occupied_and_the_recipe_stopped(
    state: str, usage: str
) -> None:
    system = system_in(usage)
    occupied, *then = report(recipe_at(1, state, "a"), system)
    reason = f"recipe 1 runs there, but is {state}"
    assert occupied == system_events.SystemOccupied(reason, 1, None)
    assert then == ([system_events.SystemIdle()] if usage == "pending" else [])
    command = of_system(system, occupied)
    assert command is not None
    assert (command.kind, command.recipe_id, command.reason) == ("stop", 1, reason)


@pytest.mark.parametrize("state", ["new", "queued", "assigned"])
def test_running__recipe_has_no_system__system_is_occupied(state: str) -> None:
    assert report(recipe_at(1, state, "a"), system_in("idle")) == [
        system_events.SystemOccupied(f"recipe 1 runs there, but has not started: it is {state}", 1, None)
    ]


@pytest.mark.parametrize("state", ["scheduled", "waiting"])
def test_running__recipe_has_the_system_but_has_not_started__loses_it(state: str) -> None:
    recipe = replace(recipe_at(1, state, "a"), held=None)
    occupied, queued, idle = report(recipe, system_of(recipe))
    assert isinstance(occupied, system_events.SystemOccupied)
    assert queued == recipe_events.RecipeQueued(f"a is occupied: {occupied.reason}")
    assert idle == system_events.SystemIdle()


def test_running__recipe_is_elsewhere__system_is_occupied_and_the_recipe_goes_on_there() -> None:
    here = replace(recipe_at(2, "running", "b"), held=NO_LOCKS)
    assert report(here, replace(system_in("idle"), fqdn="a"), Running(2)) == [
        system_events.SystemOccupied("recipe 2 runs there, but has b", 2, None)
    ]


def test_running__another_attempt__system_is_occupied() -> None:
    recipe = replace(recipe_at(1, "running", "a"), attempt=2)
    reason = "recipe 1 runs there, but is at attempt 2, not 1"
    assert report(recipe, system_of(recipe), Running(1, 1)) == [system_events.SystemOccupied(reason, 1, 1)]
    assert report(recipe, system_of(recipe), Running(1, 2)) == []


def test_running__another_recipe_than_the_started_one__which_keeps_the_system() -> None:
    recipe, ended = recipe_at(1, "running", "a"), recipe_at(2, "completed", "a")
    reason = "recipe 2 runs there, but is completed"
    found = report(recipe, system_of(recipe), Running(2), ended)
    assert found == [system_events.SystemOccupied(reason, 2, None)]


def test_running__no_such_recipe__an_item_for_people_and_no_command() -> None:
    system = system_in("idle")
    (unnamed,), (unknown,) = report(None, system, Running(None)), report(None, system, Running(7))
    assert unnamed == system_events.SystemOccupied(UNNAMED, None, None)
    assert unknown == system_events.SystemOccupied("recipe 7 runs there, which does not exist", None, None)
    assert of_system(system, unnamed) is of_system(system, unknown) is None


def test_running__system_that_a_person_has__nothing_if_no_recipe_is_named() -> None:
    system = replace(system_in("idle"), usage="running", reservation=Reservation("ada", None, None))
    assert report(None, system, Running(None)) == []
    (occupied,) = report(recipe_at(1, "completed", "a"), system)
    assert isinstance(occupied, system_events.SystemOccupied)


def test_running__reported_twice__nothing_the_second_time() -> None:
    recipe, system = recipe_at(1, "completed", "a"), system_in("idle")
    (occupied,) = report(recipe, system)
    assert isinstance(occupied, system_events.SystemOccupied)
    said = Occupation(occupied.reason, occupied.recipe_id, occupied.attempt, since=8)
    assert report(recipe, replace(system, occupied=said)) == []


@pytest.mark.parametrize(
    ("usage", "condition", "draining", "pending"),
    [
        ("idle", "Automated", False, True),
        ("idle", "Automated", True, False),
        ("idle", "Manual", False, False),
        ("running", "Automated", False, False),
    ],
)
def test_vacant__occupied_system__is_pending_if_recipes_may_have_it(
    usage: str, condition: str, draining: bool, pending: bool
) -> None:
    system = replace(system_in(usage, condition), draining=draining, occupied=BY_ANOTHER)
    found = [event for _, event in vacate(system, "gone")]
    assert found == [system_events.SystemVacated("gone"), *[system_events.SystemPending()] * pending]
    assert vacate(system_in(usage, condition), "gone") == []
