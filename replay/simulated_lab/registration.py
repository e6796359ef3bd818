"""The registration of a simulated lab: all that its machines run when its lab controller starts again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from replay.simulated_lab.lab import SimulatedLab
from replay.simulated_lab.steps import Command, LabStep

Item = Mapping[str, Any]


def running_after(
    lab: SimulatedLab, commands: Iterable[Command], under_way: Iterable[Command], now_seconds: float
) -> tuple[SimulatedLab, list[Item]]:
    """Return the lab, and items of a registration for everything that its machines run.

    `commands` are all that the lab controller ever got, `under_way` those whose recipes may still run. A
    machine may have lost its recipe meanwhile (`lose`), or run something unknown for a while (`intrude`).
    """
    running: list[Item] = []
    in_use = {str(command["system"]): command for command in under_way}
    for command in in_use.values():
        recipe_id = command.get("recipe_id")
        if recipe_id is None:
            continue
        if _has_lost(lab, command):
            lab = lab.without(lambda step, recipe_id=recipe_id: step.is_of(recipe_id))  # type: ignore[misc]
        else:
            running.append(_item(command))
    # A command about logs has no system.
    free = {
        str(command["system"]): command
        for command in commands
        if command["system"] is not None and command["system"] not in in_use
    }
    intruded = list(_intruded(lab, free.values(), now_seconds))
    return lab.with_steps(intruded), [*running, *({"system": step.system} for step in intruded)]


def _has_lost(lab: SimulatedLab, command: Command) -> bool:
    """Return whether a machine has lost its recipe. A command that has not begun is still to be done."""
    return command.get("state", "queued") != "queued" and lab.behaviour.happens("lose", command["id"])


def _item(command: Command) -> Item:
    attempt = {"attempt": command["attempt"]} if command.get("attempt") else {}
    return {"system": command["system"], "recipe_id": command["recipe_id"], **attempt}


def _intruded(lab: SimulatedLab, last: Iterable[Command], now_seconds: float) -> Iterator[LabStep]:
    """Yield a step that ends something unknown, for each machine that runs it; `last` are their commands."""
    for command in last:
        if lab.behaviour.happens("intrude", command["id"]):
            seconds = lab.behaviour.seconds(lab.behaviour.away_seconds, "intrude", command["id"])
            yield LabStep(now_seconds + seconds, str(command["system"]), "vacant", {}, lasting=True)
