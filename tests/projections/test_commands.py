"""Tests of commands to lab controllers: guests, trees and tasks, for recipes and for reservations."""

from __future__ import annotations

import pytest

from domain.directory.events import DistroTreeRemoved
from domain.lab_commands.events import CommandCompleted, CommandRunning
from domain.recipe import events as recipe_events
from domain.system import events as system_events
from tests.projections.happened import (
    LAB,
    guest,
    host,
    lab,
    of,
    registered,
    scheduled,
    submitted,
    tree,
    waiting,
)
from tests.projections.projected_log import ProjectedLog


@pytest.fixture
def started(models: ProjectedLog) -> ProjectedLog:
    """Add recipe 1 with its guest 2 on `a`, to be provisioned with tree 1; `b` is Manual."""
    models.commit(lab(), tree(1, **{LAB: ["http://one/"]}), registered("a"), registered("b", "Manual"))
    models.commit(*submitted(host(1), guest(2, host_id=1)), *scheduled("a", 1, 2))
    models.commit(*waiting("a", 1, 2))
    return models


def kinds(models: ProjectedLog, *, unfinished: bool = False) -> list[tuple[str, str, int | None]]:
    found = models.commands(LAB, unfinished=unfinished)
    return [(row["kind"], row["system"], row["recipe_id"]) for row in found]


def test_provision__host_with_a_guest__is_one_command_with_all_of_both(started: ProjectedLog) -> None:
    (command,) = started.commands(LAB)
    (riding,) = command["guests"]
    assert (command["kind"], command["recipe_id"]) == ("provision", 1)
    assert [member["recipe_id"] for member in command["members"]] == [1, 2]
    assert [task["task_id"] for task in command["tasks"]] == [11]
    assert command["tree"]["urls"] == riding["tree"]["urls"] == {LAB: ["http://one/"]}
    assert (riding["recipe_id"], riding["guestname"], riding["guestargs"]) == (2, "g2", "--ram=1024")
    assert [task["task_id"] for task in riding["tasks"]] == [21]


def test_provision__tree_removed_since__a_repeated_query_has_the_same_answer(started: ProjectedLog) -> None:
    before = started.commands(LAB)
    started.commit(("distro-tree/1", DistroTreeRemoved()))
    assert started.commands(LAB) == before


def test_guest__aborted_while_its_host_runs__is_to_be_stopped(started: ProjectedLog) -> None:
    (at,) = started.commit(*of("recipe", 2, recipe_events.RecipeAborted("watchdog")))
    command = started.commands(LAB)[-1]
    shown = ("command_id", "kind", "system", "recipe_id", "guests")
    assert [command[name] for name in shown] == [at, "stop", "a", 2, []]


def test_host__ends_and_its_guest_with_it__gives_the_system_back_and_no_more(started: ProjectedLog) -> None:
    aborted = recipe_events.RecipeAborted("broken")
    started.commit(("recipe/1", aborted), ("recipe/2", aborted))
    assert kinds(started) == [("provision", "a", 1), ("release", "a", 1)]


def test_reservation__with_a_tree__is_provisioned_and_given_back(started: ProjectedLog) -> None:
    begun = system_events.SystemReservationBegun("bob", None, 1)
    (_, at) = started.commit(*of("system", "b", begun, system_events.SystemWaiting(None)))
    command = started.commands(LAB)[-1]
    shown = ("command_id", "kind", "system", "recipe_id", "tasks", "guests", "distro_tree_id")
    assert [command[name] for name in shown] == [at, "provision", "b", None, None, [], 1]
    assert command["tree"]["urls"] == {LAB: ["http://one/"]}

    started.commit(
        *of("system", "b", system_events.SystemReservationEnded("returned"), system_events.SystemIdle())
    )
    assert kinds(started)[-1] == ("release", "b", None)


def test_commands__unfinished_asked__are_those_the_lab_has_not_done(started: ProjectedLog) -> None:
    (first,) = started.commands(LAB)
    command = f"command/{first['command_id']}"
    started.commit((command, CommandRunning()))
    assert [row["state"] for row in started.commands(LAB, unfinished=True)] == ["running"]
    started.commit((command, CommandCompleted()), *of("recipe", 1, recipe_events.RecipeCancelled("enough")))
    assert kinds(started, unfinished=True) == [("release", "a", 1)]
    assert kinds(started) == [("provision", "a", 1), ("release", "a", 1)]
