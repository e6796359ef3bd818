"""A lab controller without a lab: which messages follow from its commands, and when.

Pure and deterministic: the same seed and command give the same messages, so a lab that crashed and asks again
from the start says the same things again, which changes nothing at the server. Time is the lab's own, in
seconds since it began; whoever runs it says what time it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from replay.simulated_lab.behaviour import Behaviour
from replay.simulated_lab.disorder import disordered
from replay.simulated_lab.machine import life
from replay.simulated_lab.steps import Command, Step, in_order, is_open

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

    def due(self, now_seconds: float) -> Iterator[Step]:
        for step in self.agenda:
            if step.due_seconds > now_seconds:
                return
            yield step

    def with_steps(self, steps: Iterable[Step]) -> Lab:
        return replace(self, agenda=in_order([*self.agenda, *steps]))

    def without(self, unwanted: Callable[[Step], bool]) -> Lab:
        return replace(self, agenda=tuple(step for step in self.agenda if not unwanted(step)))


def obey(lab: Lab, command: Command, now_seconds: float) -> Lab:
    """The lab after it has taken a command; one of a kind it does not know is reported failed."""
    handler = _HANDLERS.get(str(command["kind"]))
    if handler is None:
        return lab.with_steps(_reports(command, now_seconds, _unknown(command)))
    return handler(lab, command, now_seconds)


def _provision(lab: Lab, command: Command, now_seconds: float) -> Lab:
    """Whatever ran on that system is gone; its new recipe goes through its life.

    Of a recipe that was withdrawn and placed again, the former system must not speak any more.
    """
    free = _silenced(_system_free(lab, command), command)
    steps = tuple(disordered(life(command, lab.behaviour, now_seconds), lab.behaviour, command["id"]))
    # A person's system is done when it is installed, and a failure comes later, too: the life tells of both.
    told = command.get("recipe_id") is None or any(step.kind == "command" for step in steps)
    reports = _reports(command, now_seconds, *([] if told else [{"state": "completed"}]))
    return free.with_steps([*reports, *steps, *_silence(lab.behaviour, command, steps)])


def _silence(behaviour: Behaviour, command: Command, steps: tuple[Step, ...]) -> Iterator[Step]:
    """At some moment of this life the whole lab controller vanishes; it may lose its memory over that."""
    number, own = command["id"], [step.due_seconds for step in steps if not step.lasting]
    if own and behaviour.happens("vanish", number):
        chance = behaviour.chance("away", number)
        moment, forgets = chance.uniform(min(own), max(own)), chance.random() < 0.5
        seconds = behaviour.seconds(behaviour.away_seconds, "away", number)
        body = {"seconds": seconds, "forgets": forgets}
        yield Step(moment, str(command["system"]), "silence", body, lasting=True)


def _stop(lab: Lab, command: Command, now_seconds: float) -> Lab:
    """End a recipe, and with a host its guests; without a recipe named, whatever the system runs."""
    free = _system_free(lab, command) if command.get("recipe_id") is None else _silenced(lab, command)
    return _at_once(free, command, now_seconds)


def _silenced(lab: Lab, command: Command) -> Lab:
    recipe_id = command.get("recipe_id")
    return lab if recipe_id is None else lab.without(lambda step: step.is_of(recipe_id))


def _system_free(lab: Lab, command: Command) -> Lab:
    return lab.without(lambda step: step.system == command.get("system") and not step.lasting)


def _at_once(lab: Lab, command: Command, now_seconds: float) -> Lab:
    """Power and boot configuration are done as soon as they are begun."""
    return lab.with_steps(_reports(command, now_seconds, {"state": "completed"}))


def _reports(command: Command, now_seconds: float, *ends: Mapping[str, Any]) -> list[Step]:
    """That it has begun, unless that was said, and how it ended. They last: nothing takes back a command."""
    begins = [{"state": "running"}] if command.get("state", "queued") == "queued" else []
    said = [*begins, *ends] if is_open(command) else []
    system, number = str(command.get("system", "")), int(command["id"])
    return [Step(now_seconds, system, "command", body, lasting=True, command=number) for body in said]


def _unknown(command: Command) -> Mapping[str, Any]:
    return {"state": "failed", "reason": f"unknown kind of command: {command['kind']}"}


_HANDLERS: dict[str, Callable[[Lab, Command, float], Lab]] = {
    "provision": _provision,
    "stop": _stop,
    "release": _stop,
    "power": _at_once,
    "clear_netboot": _at_once,
}
