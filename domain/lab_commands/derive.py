"""Derivation of commands for lab controllers from an event and the state before the event.

An event leads to at most one command, whose id is the position of the event (docs/decisions/0003).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from domain.events import Event
from domain.job.events import JobLogsExpired
from domain.recipe.events import RecipeLocked, RecipeWaiting
from domain.recipe.lifecycle import FINISHED, GIVEN_UP, STARTED
from domain.system.events import SystemOccupied, SystemReservationEnded, SystemWaiting
from domain.system.state import System


@dataclass(frozen=True, slots=True)
class Command:
    """A command: `recipe_id` is None for a person, `distro_tree_id` is None if no tree is installed.

    A command about the logs of a job has its `job_id`, and neither `system` nor recipe.
    `reason` says why the system is released or the recipe is stopped; None if the recipe completed.
    `attempt` is that of the recipe; None for a person, and if the lab controller did not say it.
    """

    kind: str
    lab_controller: str
    system: str | None
    recipe_id: int | None
    distro_tree_id: int | None = None
    reason: str | None = None
    attempt: int | None = None
    job_id: int | None = None


@dataclass(frozen=True, slots=True)
class PlacedRecipe:
    """The state of a placed recipe before an event. `host_state` is that of its host, None without a host.

    `awaits_locks`: the recipe is waiting, but its set does not have its resource locks and has not started.
    """

    recipe_id: int
    state: str
    system: str
    lab_controller: str
    distro_tree_id: int | None
    host_state: str | None
    awaits_locks: bool = False
    attempt: int = 1

    @property
    def started(self) -> bool:
        return self.state in STARTED and not self.awaits_locks


def of_recipe(before: PlacedRecipe, event: Event) -> Command | None:
    rules = _HOST if before.host_state is None else _GUEST
    kind = next((kind for kind, applies in rules if applies(before, event)), None)
    if kind is None:
        return None
    details = _details(kind, before.distro_tree_id, event)
    return Command(kind, before.lab_controller, before.system, before.recipe_id, *details, before.attempt)


def _details(kind: str, distro_tree_id: int | None, event: Event) -> tuple[int | None, str | None]:
    """Return the distro tree to install, or the reason for the end."""
    return (distro_tree_id, None) if kind == "provision" else (None, getattr(event, "reason", None))


def _starts(event: Event) -> bool:
    """Return whether a waiting recipe has its resource locks from this event on."""
    return isinstance(event, RecipeLocked) or (isinstance(event, RecipeWaiting) and event.locks is not None)


def _state_after(before: PlacedRecipe, event: Event) -> str:
    return str(getattr(event, "STATE", before.state))


_Rule = tuple[str, Callable[[PlacedRecipe, Event], bool]]

_HOST: Final[tuple[_Rule, ...]] = (
    # The recipe starts, with its guests: it has its system and its resource locks.
    ("provision", lambda _, event: _starts(event)),
    # The recipe ended, or its system was withdrawn. Before the start the system was never provisioned.
    ("release", lambda before, event: before.started and _state_after(before, event) not in STARTED),
)
_GUEST: Final[tuple[_Rule, ...]] = (
    # A guest is cancelled or aborted while its host continues. A guest that completes needs no command.
    ("stop", lambda before, event: _runs_on_host(before) and _state_after(before, event) in GIVEN_UP),
)


def _runs_on_host(guest: PlacedRecipe) -> bool:
    return guest.started and guest.host_state not in FINISHED


def of_job(job_id: int, event: JobLogsExpired) -> Command:
    return Command("delete-logs", event.lab_controller, system=None, recipe_id=None, job_id=job_id)


def of_system(before: System, event: Event) -> Command | None:
    """Return the command that follows from an event of a system, or None.

    What occupies a system is stopped if it is a recipe. The others are about reservations.
    """
    if isinstance(event, SystemOccupied):
        if event.recipe_id is None:
            return None
        about = event.recipe_id, None, event.reason, event.attempt
        return Command("stop", before.lab_controller, before.fqdn, *about)
    rule = _RESERVED.get(type(event))
    if rule is None or before.reservation is None or not rule[1](before, event):
        return None
    details = _details(rule[0], before.reservation.distro_tree_id, event)
    return Command(rule[0], before.lab_controller, before.fqdn, None, *details)


_RESERVED: Final[dict[type[Event], tuple[str, Callable[[System, Any], bool]]]] = {
    # A reservation with a distro tree begins with the provisioning.
    SystemWaiting: ("provision", lambda _, event: event.recipe_id is None),
    # The lab controller may have begun to provision, or the person has used the system.
    SystemReservationEnded: (
        "release",
        lambda before, _: before.usage in ("waiting", "installing", "running"),
    ),
}
