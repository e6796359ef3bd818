"""A lab controller says how far it is with a command."""

from __future__ import annotations

import asyncio
from typing import Any

from api.services import Request, Services
from api.store.event_log import EventLog
from api.store.requests import Append, Committed
from api.store.selection import Selection
from api.use_cases.commit import append_of, commit
from domain.command.lifecycle import report
from domain.errors import Unknown
from domain.events import Decided
from domain.gathered import Gathered
from domain.recipe.events import RecipeAssigned, RecipeQueued, RecipeScheduled
from domain.recipe_set.ending import abort
from domain.system.events import SystemReservationEnded
from domain.upkeep.reservation import provisioning

# What takes the ground from under a command: a recipe that lost its system may be provisioned anew, and so
# may a system for the next person. How the old command ended is no news of the new one.
OVERTAKEN = tuple(
    event.TOPIC for event in (RecipeQueued, RecipeAssigned, RecipeScheduled, SystemReservationEnded)
)


async def report_command(
    services: Services, request: Request, lab_controller: str, command_id: int, state: str, reason: str
) -> Committed | None:
    """None when it was known. What it was for changes in the same commit: a recipe that could not be
    provisioned is aborted, a reservation ends, and a reserved system follows its provisioning.

    Raises Unknown, or Refused for what contradicts an earlier report; BeingBuilt where it may be known soon.
    """
    command = await services.reader.row("command", {"command_id": command_id})
    if command is None:
        services.reader.require_whole()
    if command is None or command["lab_controller"] != lab_controller:
        raise Unknown(f"command {command_id} of {lab_controller}")
    return await commit(
        services, lambda: asyncio.to_thread(_decide, services, request, command, state, reason)
    )


def _decide(
    services: Services, request: Request, command: dict[str, Any], state: str, reason: str
) -> Append | None:
    subject = f"command/{command['command_id']}"
    past = services.log.load({subject: 0})[subject]
    before = getattr(past[-1].event, "STATE", "queued") if past else "queued"
    event = report(subject, before, state, reason)
    if event is None:
        return None
    follows, versions = _follows(services, command, state, reason)
    return append_of(services, request, [(subject, event), *follows], {subject: len(past), **versions})


def _follows(
    services: Services, command: dict[str, Any], state: str, reason: str
) -> tuple[Decided, dict[str, int]]:
    """The events of what the command is for, and the versions these rest on."""
    recipe_id = command["recipe_id"]
    if command["kind"] != "provision" or (recipe_id is not None and state != "failed"):
        return [], {}
    concerned = f"system/{command['system']}" if recipe_id is None else f"recipe/{recipe_id}"
    gathered = services.aggregates.gather([concerned])
    if _overtaken(services.log, concerned, command["command_id"]):
        return [], {}
    if recipe_id is not None:
        decided = _abort(gathered, recipe_id, f"command {command['command_id']} failed: {reason}")
    else:
        system = gathered.system(command["system"])
        assert system is not None, f"{concerned} has a command and no beginning"
        decided = provisioning(system, state, reason)
    return decided, gathered.versions if decided else {}


def _abort(gathered: Gathered, recipe_id: int, why: str) -> Decided:
    recipe = gathered.recipe(recipe_id)
    assert recipe is not None, f"recipe {recipe_id} has a command and no beginning"
    return abort(gathered.members(recipe.recipe_set_id), recipe, why)


def _overtaken(log: EventLog, subject: str, position: int) -> bool:
    """Whether what a command was for has been taken away since. Blocking.

    Asked after the states were gathered: what comes between is then seen here or refused by their versions.
    """
    found, _ = log.select(position, log.end(), 1, Selection(OVERTAKEN, (subject,)))
    return bool(found)
