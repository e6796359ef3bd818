"""A lab controller without a lab: which messages follow from its commands, and when.

Pure and deterministic: the same seed and command give the same messages, so a lab that crashed and asks again
from the start says the same things again, which changes nothing at the server. Time is the lab's own, in
seconds since it began; whoever runs it says what time it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from replay.simulated_machine import Behaviour, Command, Step, life

# States of a recipe in which its lab has something to say about it.
UNDER_WAY = frozenset({"waiting", "installing", "running"})


@dataclass(frozen=True)
class Lab:
    """What a lab controller still has to say, earliest first."""

    behaviour: Behaviour
    agenda: tuple[Step, ...] = ()

    @property
    def next_due_seconds(self) -> float | None:
        return self.agenda[0].due_seconds if self.agenda else None

    def due(self, now_seconds: float) -> tuple[Step, ...]:
        return tuple(step for step in self.agenda if step.due_seconds <= now_seconds)

    def past(self, count: int) -> Lab:
        """The lab after its first so many messages were heard."""
        return replace(self, agenda=self.agenda[count:])

    def without(self, unwanted: Callable[[Step], bool]) -> Lab:
        return replace(self, agenda=tuple(step for step in self.agenda if not unwanted(step)))


class UnknownKind(ValueError):
    """A simulated lab does not know this kind of command."""


def obey(lab: Lab, command: Command, now_seconds: float) -> Lab:
    """The lab after it has taken a command. Raises UnknownKind."""
    handler = _HANDLERS.get(str(command["kind"]))
    if handler is None:
        raise UnknownKind(f"unknown kind of command: {command['kind']}")
    return handler(lab, command, now_seconds)


def provision(lab: Lab, command: Command, now_seconds: float) -> Lab:
    """Whatever ran on that system is gone; its new recipe goes through its life.

    Of a recipe that was withdrawn and placed again, the former system must not speak any more.
    """
    free = _stop(_release_system(lab, command), command, now_seconds)
    steps = sorted((*free.agenda, *life(command, lab.behaviour, now_seconds)), key=_when)
    return replace(lab, agenda=tuple(steps))


def _stop(lab: Lab, command: Command, _: float) -> Lab:
    """End a recipe, and with a host its guests; without a recipe named, whatever the system runs."""
    recipe_id = command.get("recipe_id")
    if recipe_id is None:
        return _release_system(lab, command)
    return lab.without(lambda step: recipe_id in (step.recipe_id, step.host_recipe_id))


def _release_system(lab: Lab, command: Command) -> Lab:
    return lab.without(lambda step: step.system == command.get("system"))


def _no_words(lab: Lab, _: Command, __: float) -> Lab:
    """Power and boot configuration happen at once and are not talked about."""
    return lab


_HANDLERS: dict[str, Callable[[Lab, Command, float], Lab]] = {
    "provision": provision,
    "stop": _stop,
    "release": _stop,
    "power": _no_words,
    "clear_netboot": _no_words,
}


def resume(lab: Lab, recipe: Mapping[str, Any], now_seconds: float) -> Lab:
    """The lab after it has looked how far the server knows a recipe: what is settled is not said again.

    What is left of the recipe moves up, as if the lab had never been away; a recipe that is finished, or not
    on the system any more that we were told of, is dropped with its guests.
    """
    recipe_id = int(recipe["recipe_id"])
    system = recipe.get("system")
    if recipe["state"] not in UNDER_WAY:
        return lab.without(lambda step: recipe_id in (step.recipe_id, step.host_recipe_id))
    lab = lab.without(lambda step: step.host_recipe_id == recipe_id and system not in (None, step.system))
    done = {task["task_id"] for task in recipe.get("tasks") or () if task["state"] not in ("new", "running")}
    rest = lab.without(lambda step: step.recipe_id == recipe_id and _settled(step, recipe["state"], done))
    ahead = [step.due_seconds for step in rest.agenda if recipe_id in (step.recipe_id, step.host_recipe_id)]
    early = max(min(ahead, default=now_seconds) - now_seconds, 0.0)
    moved = [
        replace(step, due_seconds=step.due_seconds - early) if step.host_recipe_id == recipe_id else step
        for step in rest.agenda
    ]
    return replace(lab, agenda=tuple(sorted(moved, key=_when)))


def _settled(step: Step, state: str, done: set[int]) -> bool:
    if "task_id" in step.progress:
        return step.progress["task_id"] in done
    return step.progress.get("state") == "installing" and state != "waiting"


def _when(step: Step) -> float:
    return step.due_seconds
