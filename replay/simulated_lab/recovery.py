"""Recovery of a lab after a silence or a restart, from its old commands and the server's recipes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from domain.recipe.lifecycle import OPEN_TASK
from replay.simulated_lab.behaviour import Behaviour
from replay.simulated_lab.lab import UNDER_WAY, SimulatedLab, obey
from replay.simulated_lab.machine import life
from replay.simulated_lab.steps import Command, LabStep, in_order, is_open

# Kinds of commands that end the provisioning of a system.
ENDINGS = frozenset({"stop", "release"})


def recall(behaviour: Behaviour, commands: Iterable[Command], now_seconds: float) -> SimulatedLab:
    """Return the lab that had received all these commands, in order, before its restart.

    Only the last provisioning of each system can still be under way; `resume` adds its progress from the
    server. Any other open command is reported as completed. A command without a state has ended.
    """
    given, lab = list(commands), SimulatedLab(behaviour)
    last, ended = _last_of_each_system(given)
    open_ids = {command["id"] for command in last.values()} - ended
    # Ended commands come first: the stop of a recipe that was placed again must not end its new attempt.
    for command in given:
        if command["id"] not in open_ids:
            lab = obey(lab, _done(command), now_seconds)
    in_use = {system for system, command in last.items() if command["id"] in open_ids}
    lab = lab.without(lambda step: step.kind == "vacant" and step.system in in_use)
    for command in last.values():
        if command["id"] in open_ids:
            lab = obey(lab, _begun(command), now_seconds)
        else:
            lab = lab.with_steps(step for step in life(command, behaviour, now_seconds) if step.lasting)
    # After a restart, an old command does not make the lab silent again.
    return lab.without(lambda step: step.kind == "silence")


def under_way(commands: Iterable[Command]) -> list[Command]:
    """Return the provisionings that may still be under way: at most one for each system."""
    last, ended = _last_of_each_system(commands)
    return [command for command in last.values() if command["id"] not in ended]


def _last_of_each_system(commands: Iterable[Command]) -> tuple[dict[str, Command], set[int]]:
    """Return the last provisioning of each system, and the ids of those that ended since."""
    last, ended = dict[str, Command](), set[int]()
    for command in commands:
        recipe_id, system = command.get("recipe_id"), command.get("system")
        if command["kind"] == "provision":
            ended |= _of_recipe(last.values(), recipe_id)
            last[command["system"]] = command
        elif command["kind"] in ENDINGS and system in last:
            # On another system the recipe may be at its next attempt.
            there = last[system]
            ended |= {there["id"]} if recipe_id is None else _of_recipe([there], recipe_id)
            last[system] = _without_guest(there, recipe_id)
    # A person's installed system needs nothing more.
    installed = {one["id"] for one in last.values() if one.get("recipe_id") is None and not is_open(one)}
    return last, ended | installed


def _of_recipe(commands: Iterable[Command], recipe_id: int | None) -> set[int]:
    return {one["id"] for one in commands if recipe_id is not None and one.get("recipe_id") == recipe_id}


def _without_guest(command: Command, recipe_id: int | None) -> Command:
    guests = command.get("guests") or []
    return {**command, "guests": [guest for guest in guests if guest["recipe_id"] != recipe_id]}


def _begun(command: Command) -> Command:
    """Return an old command as running if it is open and of a recipe: then only its end is reported."""
    recipes = command.get("recipe_id") is not None
    return {**command, "state": "running"} if recipes and is_open(command) else command


def _done(command: Command) -> Command:
    """Return a command whose end is reported without effect: a provisioning becomes another kind."""
    kind = "clear_netboot" if command["kind"] == "provision" else command["kind"]
    return {**command, "kind": kind, "state": command.get("state", "completed")}


def resume(lab: SimulatedLab, recipe: Mapping[str, Any], now_seconds: float) -> SimulatedLab:
    """Return the lab without those messages of a recipe that the server has already received.

    The remaining messages of the recipe become due earlier, as if the lab had never been away. A recipe that
    has ended, or is no longer on the same system, is dropped with its guests.
    """
    recipe_id, system = int(recipe["recipe_id"]), recipe.get("system")
    if recipe["state"] not in UNDER_WAY:
        return lab.without(lambda step: step.is_of(recipe_id))
    lab = lab.without(lambda step: step.host_recipe_id == recipe_id and system not in (None, step.system))
    done = {task["task_id"] for task in recipe.get("tasks") or () if task["state"] not in OPEN_TASK}
    rest = lab.without(lambda step: step.recipe_id == recipe_id and _settled(step, recipe["state"], done))
    ahead = [step.due_seconds for step in rest.agenda if step.is_of(recipe_id)]
    early = max(min(ahead, default=now_seconds) - now_seconds, 0.0)
    moved = [_sooner(step, early) if step.host_recipe_id == recipe_id else step for step in rest.agenda]
    return replace(rest, agenda=in_order(moved))


def _sooner(step: LabStep, seconds: float) -> LabStep:
    return replace(step, due_seconds=step.due_seconds - seconds)


def _settled(step: LabStep, state: str, done: set[int]) -> bool:
    if step.kind != "progress":
        return False
    if "task_id" in step.body:
        return step.body["task_id"] in done
    return step.body.get("state") == "installing" and state != "waiting"
