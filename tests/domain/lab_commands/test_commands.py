"""Commands to labs: derived from events, and reported by labs."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest

from domain.errors import Refused
from domain.events import Event
from domain.lab_commands.derive import Command, PlacedRecipe, of_recipe, of_system
from domain.lab_commands.events import CommandCompleted, CommandFailed, CommandRunning
from domain.lab_commands.lifecycle import COMMAND, report
from domain.recipe import events as recipe_events
from domain.recipe.lifecycle import FINISHED, RECIPE, STARTED
from domain.system import events as system_events
from domain.system.state import Reservation, System

HOST = PlacedRecipe(12, "running", "a", "lab-1", distro_tree_id=7, host_state=None)
GUEST = replace(HOST, recipe_id=13, host_state="running")

MOVES = sorted(move for move in RECIPE.moves if move[0] == "scheduled" or move[0] in STARTED)


def moved_to(state: str) -> Event:
    """Return an event of a state; its other fields do not matter."""
    made: dict[str, Event] = {
        "waiting": recipe_events.RecipeWaiting("a"),
        "installing": recipe_events.RecipeInstalling("a"),
        "running": recipe_events.RecipeRunning("a"),
        "queued": recipe_events.RecipeQueued("why"),
        "assigned": recipe_events.RecipeAssigned("lab-1", "why"),
        "scheduled": recipe_events.RecipeScheduled("a", "lab-1"),
        "reserved": recipe_events.RecipeReserved("a", 60),
        "completed": recipe_events.RecipeCompleted(),
        "cancelled": recipe_events.RecipeCancelled("why"),
        "aborted": recipe_events.RecipeAborted("why"),
    }
    return made[state]


@pytest.mark.parametrize(("before", "after"), MOVES)
def test_host__any_transition__provisioned_at_start_and_released_at_end(before: str, after: str) -> None:
    command = of_recipe(replace(HOST, state=before), moved_to(after))
    if after == "waiting":
        assert command == Command("provision", "lab-1", "a", 12, distro_tree_id=7, attempt=1)
    elif before in STARTED and after not in STARTED:
        reason = getattr(moved_to(after), "reason", None)
        assert command == Command("release", "lab-1", "a", 12, reason=reason, attempt=1)
    else:
        assert command is None


@pytest.mark.parametrize(("before", "after"), MOVES)
def test_host__waits_for_its_locks__no_command_before_it_has_them(before: str, after: str) -> None:
    if before == "waiting":
        assert of_recipe(replace(HOST, state=before, awaits_locks=True), moved_to(after)) is None
    if after == "waiting":
        assert of_recipe(replace(HOST, state=before), recipe_events.RecipeWaiting("a", None)) is None


def test_host__gets_its_locks__is_provisioned() -> None:
    waiting = replace(HOST, state="waiting", awaits_locks=True)
    provision = Command("provision", "lab-1", "a", 12, distro_tree_id=7, attempt=1)
    assert of_recipe(waiting, recipe_events.RecipeLocked({})) == provision
    assert of_recipe(replace(waiting, host_state="waiting"), recipe_events.RecipeLocked({})) is None


def test_host__narrows_its_locks__no_command() -> None:
    assert of_recipe(HOST, recipe_events.LocksNarrowed({})) is None


def test_guest__cancelled_before_its_set_has_its_locks__no_command() -> None:
    guest = replace(GUEST, state="waiting", host_state="waiting", awaits_locks=True)
    assert of_recipe(guest, recipe_events.RecipeCancelled("enough")) is None


@pytest.mark.parametrize("host_state", ["running", "reserved", *FINISHED])
@pytest.mark.parametrize(("before", "after"), MOVES)
def test_guest__any_transition__stopped_only_if_given_up_while_host_continues(
    before: str, after: str, host_state: str
) -> None:
    command = of_recipe(replace(GUEST, state=before, host_state=host_state), moved_to(after))
    given_up = before in STARTED and after in ("cancelled", "aborted")
    stop = Command("stop", "lab-1", "a", 13, reason="why", attempt=1)
    assert command == (stop if given_up and host_state not in FINISHED else None)


WITH_TREE = Reservation("ada", None, 7)
WITHOUT = Reservation("ada", None, None)
ENDED = system_events.SystemReservationEnded("returned")
RELEASE = Command("release", "lab-1", "a", None, reason="returned")

PERSONS: list[tuple[str, Reservation | None, Event, Command | None]] = [
    # Reserved by a person, with a tree: provisioned, and released at any stage.
    ("idle", WITH_TREE, system_events.SystemWaiting(None), Command("provision", "lab-1", "a", None, 7)),
    ("waiting", WITH_TREE, system_events.SystemInstalling(None), None),
    ("waiting", WITH_TREE, ENDED, RELEASE),
    ("installing", WITH_TREE, ENDED, RELEASE),
    ("running", WITH_TREE, ENDED, RELEASE),
    # Without a tree the person gets the system as it is.
    ("idle", WITHOUT, system_events.SystemRunning(None), None),
    ("running", WITHOUT, ENDED, RELEASE),
    # The person never got the system.
    ("idle", WITHOUT, ENDED, None),
    # With a recipe, the event of the recipe has the command.
    ("scheduled", None, system_events.SystemWaiting(12), None),
    ("running", None, system_events.SystemPending(), None),
    ("running", None, system_events.SystemConditionChanged("Broken", "it burns"), None),
]


@pytest.mark.parametrize(("usage", "reservation", "event", "command"), PERSONS)
def test_system__event__command_only_for_persons(
    usage: str, reservation: Reservation | None, event: Event, command: Command | None
) -> None:
    before = System("a", 7, "lab-1", "ada", "Manual", {}, usage, reservation=reservation)
    assert of_system(before, event) == command


ANSWERS: dict[tuple[str, str], Event | None] = {
    ("queued", "running"): CommandRunning(),
    # A short command may be reported only at its end.
    ("queued", "completed"): CommandCompleted(),
    ("running", "completed"): CommandCompleted(),
    ("queued", "failed"): CommandFailed(reason="no power"),
    ("running", "failed"): CommandFailed(reason="no power"),
    # Repeated.
    ("running", "running"): None,
    ("completed", "completed"): None,
    ("failed", "failed"): None,
}


EVERY = list(product(COMMAND.states, ("running", "completed", "failed")))


@pytest.mark.parametrize(("before", "after"), EVERY)
def test_report__any_state_after_any_state__is_answered_by_the_table(before: str, after: str) -> None:
    if (before, after) in ANSWERS:
        assert report("command/7", before, after, "no power") == ANSWERS[before, after]
        return
    with pytest.raises(Refused, match=f"command 7 is {before} and cannot become {after}"):
        report("command/7", before, after, "no power")
