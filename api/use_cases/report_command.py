"""A lab controller says how far it is with a command."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any

from api.services import Request, Services
from api.store.event_log import EventLog
from api.store.requests import Append, Committed
from api.store.selection import Selection
from api.use_cases.commit import append_of, commit
from api.use_cases.drafts import CommandItem, of_commands
from domain.errors import LabledgerError, Unknown
from domain.events import Decided
from domain.gathered import Gathered
from domain.recipe.events import RecipeAssigned, RecipeQueued, RecipeScheduled
from domain.recipe_set.ending import abort
from domain.system.events import SystemReservationEnded
from domain.upkeep.reservation import provisioning
from projections.reader import BeingBuilt

# What takes the ground from under a command: a recipe that lost its system may be provisioned anew, and so
# may a system for the next person. How the old command ended is no news of the new one.
OVERTAKEN = tuple(
    event.TOPIC for event in (RecipeQueued, RecipeAssigned, RecipeScheduled, SystemReservationEnded)
)

# A command has the position of what it follows from.
LAST_POSITION = 2**63 - 1


async def report_command(
    services: Services, request: Request, lab_controller: str, command_id: int, state: str, reason: str
) -> Committed | None:
    """None when it was known. What it was for changes in the same commit: a recipe that could not be
    provisioned is aborted, a reservation ends, and a reserved system follows its provisioning.

    Raises Unknown, or Refused for what contradicts an earlier report; BeingBuilt where it may be known soon.
    """
    found = await told(services, lab_controller, [command_id])
    if command_id not in found:
        raise not_told(services, lab_controller, command_id)
    return await report_on(services, request, found[command_id], CommandItem(command_id, state, reason))


async def told(
    services: Services, lab_controller: str, command_ids: Iterable[int]
) -> dict[int, dict[str, Any]]:
    """Those of the commands that this lab controller was told."""
    asked = [command_id for command_id in command_ids if command_id <= LAST_POSITION]
    rows = await services.reader.rows("commands_by_id", {"command_ids": asked})
    return {row["command_id"]: row for row in rows if row["lab_controller"] == lab_controller}


def not_told(services: Services, lab_controller: str, command_id: int) -> LabledgerError:
    """Why a command is not among them: while the read models are being built nobody can say."""
    try:
        services.reader.require_whole()
    except BeingBuilt as error:
        return error
    return Unknown(f"command {command_id} of {lab_controller}")


def moves_more(command: Mapping[str, Any], state: str) -> bool:
    """Whether what a command is for may change with it."""
    return command["kind"] == "provision" and (command["recipe_id"] is None or state == "failed")


async def report_on(
    services: Services, request: Request, command: Mapping[str, Any], item: CommandItem
) -> Committed | None:
    """A report on a command that was told, as a commit of its own."""
    return await commit(services, lambda: asyncio.to_thread(_decide, services, request, command, item))


def _decide(
    services: Services, request: Request, command: Mapping[str, Any], item: CommandItem
) -> Append | None:
    (draft,) = of_commands(services.log, {0: item})
    if draft.refused:
        raise draft.refused[0]
    if not draft.decided:
        return None
    follows, versions = _follows(services, command, item.state, item.reason)
    return append_of(services, request, [*draft.decided, *follows], {**draft.versions, **versions})


def _follows(
    services: Services, command: Mapping[str, Any], state: str, reason: str
) -> tuple[Decided, dict[str, int]]:
    """The events of what the command is for, and the versions these rest on."""
    recipe_id = command["recipe_id"]
    if not moves_more(command, state):
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
