"""Reports of lab controllers on single commands."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from api.use_cases.commit import append_for, commit
from api.use_cases.ports import LabParts, Log, ReadModels, RequestContext, WriteParts
from api.use_cases.report_drafts import CommandItem, of_commands
from domain.errors import LabledgerError, Unknown
from domain.events import Decided
from domain.read_set import ReadSet
from domain.recipe.events import RecipeAssigned, RecipeQueued, RecipeScheduled
from domain.recipe_set.provisioning import ProvisioningFailure, provisioning_failed, why_broken_by_power
from domain.system.events import (
    SystemConditionChanged,
    SystemInstalling,
    SystemReservationEnded,
    SystemRunning,
)
from domain.system.lifecycle import BROKEN
from domain.system_admin.condition import change_condition
from domain.system_admin.reservation import provisioning
from projections.reader import NotYetBuilt
from store.requests import AppendRequest, Committed
from store.selection import Selection

# Events after which a provision command is obsolete, because the recipe may be provisioned on another system,
# or the system for another person.
OBSOLETE_AFTER = tuple(
    event.TOPIC for event in (RecipeQueued, RecipeAssigned, RecipeScheduled, SystemReservationEnded)
)
# Events after which a power command is obsolete, because the system was powered or a person has checked it.
POWER_OBSOLETE_AFTER = tuple(
    event.TOPIC for event in (SystemInstalling, SystemRunning, SystemConditionChanged)
)
# A release powers the system off.
POWER_KINDS = ("release", "power")

# The id of a command is the position of the event that caused it.
LAST_POSITION = 2**63 - 1


async def report_command(
    parts: LabParts, request: RequestContext, lab_controller: str, item: CommandItem
) -> Committed | None:
    """Store a report on a command; return None if it changes nothing.

    The subject of the command changes in the same commit: a recipe that could not be provisioned is aborted,
    a reservation ends, a reserved system follows its provisioning, and a system that does not obey its power
    control becomes Broken. Raises Unknown, Refused for a report that contradicts an earlier one, and
    NotYetBuilt if the command is unknown while the read models are built.
    """
    commands = await commands_by_id(parts.reader, lab_controller, [item.command_id])
    if item.command_id not in commands:
        raise unknown_command(parts.reader, lab_controller, item.command_id)
    return await report_on(parts, request, commands[item.command_id], item)


async def commands_by_id(
    reader: ReadModels, lab_controller: str, command_ids: Iterable[int]
) -> dict[int, dict[str, Any]]:
    """Return the given commands that belong to this lab controller, by id."""
    valid = [command_id for command_id in command_ids if command_id <= LAST_POSITION]
    rows = await reader.rows("commands_by_id", {"command_ids": valid})
    return {row["command_id"]: row for row in rows if row["lab_controller"] == lab_controller}


def unknown_command(reader: ReadModels, lab_controller: str, command_id: int) -> LabledgerError:
    """Return the error for an unknown command: NotYetBuilt while the read models are built, else Unknown."""
    try:
        reader.require_whole()
    except NotYetBuilt as error:
        return error
    return Unknown(f"command {command_id} of {lab_controller}")


def may_have_effects(command: Mapping[str, Any], state: str) -> bool:
    """Return whether the report may also change the recipe or system of the command."""
    if command["kind"] in POWER_KINDS:
        return state == "failed"
    return command["kind"] == "provision" and (command["recipe_id"] is None or state == "failed")


async def report_on(
    parts: WriteParts, request: RequestContext, command: Mapping[str, Any], item: CommandItem
) -> Committed | None:
    """Commit a report on a command of the lab controller, with its effects."""
    return await commit(parts, lambda: asyncio.to_thread(_decide, parts, request, command, item))


def _decide(
    parts: WriteParts, request: RequestContext, command: Mapping[str, Any], item: CommandItem
) -> AppendRequest | None:
    (draft,) = of_commands(parts.log, {0: item})
    if draft.refused:
        raise draft.refused[0]
    if not draft.decided:
        return None
    effects, versions = _effects(parts, command, item)
    return append_for(parts, request, [*draft.decided, *effects], {**draft.versions, **versions})


def _effects(
    parts: WriteParts, command: Mapping[str, Any], item: CommandItem
) -> tuple[Decided, dict[str, int]]:
    """Return the events of the recipe or system of the command, and the versions that they use."""
    if not may_have_effects(command, item.state):
        return [], {}
    system, recipe = f"system/{command['system']}", f"recipe/{command['recipe_id']}"
    is_provision = command["kind"] == "provision"
    is_for_recipe = is_provision and command["recipe_id"] is not None
    subject = recipe if is_for_recipe else system
    gathered = parts.aggregates.gather([subject])
    if _is_obsolete(
        parts.log, subject, item.command_id, OBSOLETE_AFTER if is_provision else POWER_OBSOLETE_AFTER
    ):
        return [], {}
    broken_after = parts.feed.directory.broken_after(command["lab_controller"])
    failure = ProvisioningFailure(
        f"command {item.command_id} ({command['kind']}) failed: {item.reason}",
        is_power=item.power_failed or not is_provision,
    )
    if is_for_recipe:
        decided = _give_up(gathered, command["recipe_id"], failure, broken_after)
    else:
        decided = _of_system(gathered, command, item, failure, broken_after)
    return decided, gathered.versions if decided else {}


def _give_up(gathered: ReadSet, recipe_id: int, failure: ProvisioningFailure, broken_after: int) -> Decided:
    recipe = gathered.recipe(recipe_id)
    assert recipe is not None, f"recipe {recipe_id} has a command but no events"
    return provisioning_failed(gathered.members(recipe.recipe_set_id), recipe, failure, broken_after)


def _of_system(
    gathered: ReadSet,
    command: Mapping[str, Any],
    item: CommandItem,
    failure: ProvisioningFailure,
    broken_after: int,
) -> Decided:
    """Return the changes of a system after a command for a person's reservation or for its power."""
    system = gathered.system(command["system"])
    assert system is not None, f"system {command['system']} has a command but no events"
    reason = why_broken_by_power(system, failure, broken_after) if item.state == "failed" else None
    broken: Decided = []
    if reason is not None:
        broken = change_condition(system, gathered.members_on(system), BROKEN, reason)
        system = replace(system, condition=BROKEN)
    if command["kind"] != "provision":
        return broken
    return broken + provisioning(system, item.state, item.reason)


def _is_obsolete(log: Log, subject: str, position: int, topics: tuple[str, ...]) -> bool:
    """Return whether an event with one of the topics follows the command. Blocking.

    Call it after loading the states: an event in between is then found here, and a later one is a conflict.
    """
    events, _ = log.select(position, log.end(), 1, Selection(topics, (subject,)))
    return bool(events)
