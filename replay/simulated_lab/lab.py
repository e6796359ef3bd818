"""The simulated lab: the messages that follow from its commands, and their times.

The same seed and command give the same messages. A lab that restarts after a crash sends the same messages
again, which changes nothing at the server. Times are seconds since the start of the lab; the caller passes
the current time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from replay.simulated_lab.behaviour import Behaviour
from replay.simulated_lab.disorder import disordered
from replay.simulated_lab.machine import life
from replay.simulated_lab.steps import Command, LabStep, in_order, is_open

# States of a recipe in which its lab sends messages about it.
UNDER_WAY = frozenset({"waiting", "installing", "running"})


@dataclass(frozen=True)
class SimulatedLab:
    """The messages that a lab controller still has to send, earliest first."""

    behaviour: Behaviour
    agenda: tuple[LabStep, ...] = ()

    @property
    def next_due_seconds(self) -> float | None:
        return self.agenda[0].due_seconds if self.agenda else None

    def due(self, now_seconds: float) -> Iterator[LabStep]:
        for step in self.agenda:
            if step.due_seconds > now_seconds:
                return
            yield step

    def with_steps(self, steps: Iterable[LabStep]) -> SimulatedLab:
        return replace(self, agenda=in_order([*self.agenda, *steps]))

    def without(self, unwanted: Callable[[LabStep], bool]) -> SimulatedLab:
        return replace(self, agenda=tuple(step for step in self.agenda if not unwanted(step)))


def obey(lab: SimulatedLab, command: Command, now_seconds: float) -> SimulatedLab:
    """Return the lab after a command. A command of an unknown kind is reported as failed."""
    handler = _HANDLERS.get(str(command["kind"]))
    if handler is None:
        return lab.with_steps(_reports(command, now_seconds, _unknown(command)))
    return handler(lab, command, now_seconds)


def _provision(lab: SimulatedLab, command: Command, now_seconds: float) -> SimulatedLab:
    """Replace all messages of the system, also those of a withdrawn recipe, by those of its new recipe."""
    free = _silenced(_system_free(lab, command), command)
    steps = tuple(disordered(life(command, lab.behaviour, now_seconds), lab.behaviour, command["id"]))
    # A person's system is done when it is installed, and a failure comes later: then the life reports the
    # end.
    reports_end = command.get("recipe_id") is None or any(step.kind == "command" for step in steps)
    reports = _reports(command, now_seconds, *([] if reports_end else [{"state": "completed"}]))
    return free.with_steps([*reports, *steps, *_silence(lab.behaviour, command, steps)])


def _silence(behaviour: Behaviour, command: Command, steps: tuple[LabStep, ...]) -> Iterator[LabStep]:
    """Yield the moment at which the lab controller vanishes in this life, perhaps with its memory."""
    number, own = command["id"], [step.due_seconds for step in steps if not step.lasting]
    if own and behaviour.happens("vanish", number):
        chance = behaviour.chance("away", number)
        moment, forgets = chance.uniform(min(own), max(own)), chance.random() < 0.5
        seconds = behaviour.seconds(behaviour.away_seconds, "away", number)
        body = {"seconds": seconds, "forgets": forgets}
        yield LabStep(moment, str(command["system"]), "silence", body, lasting=True)


def _stop(lab: SimulatedLab, command: Command, now_seconds: float) -> SimulatedLab:
    """End a recipe and, with a host, its guests; the system is vacant then."""
    vacant = LabStep(now_seconds, str(command["system"]), "vacant", {}, lasting=True)
    return _release(lab, command, now_seconds).with_steps([vacant])


def _release(lab: SimulatedLab, command: Command, now_seconds: float) -> SimulatedLab:
    """End a recipe and its guests on the system of the command; without a recipe, whatever runs there."""
    recipe_id, system = command.get("recipe_id"), command.get("system")
    free = lab.without(
        lambda step: (
            step.system == system and (not step.lasting if recipe_id is None else step.is_of(recipe_id))
        )
    )
    return _at_once(free, command, now_seconds)


def _silenced(lab: SimulatedLab, command: Command) -> SimulatedLab:
    recipe_id = command.get("recipe_id")
    return lab if recipe_id is None else lab.without(lambda step: step.is_of(recipe_id))


def _system_free(lab: SimulatedLab, command: Command) -> SimulatedLab:
    return lab.without(lambda step: step.system == command.get("system") and not step.lasting)


def _at_once(lab: SimulatedLab, command: Command, now_seconds: float) -> SimulatedLab:
    """Report the command as begun and completed: power and boot configuration take no time."""
    return lab.with_steps(_reports(command, now_seconds, {"state": "completed"}))


def _reports(command: Command, now_seconds: float, *ends: Mapping[str, Any]) -> list[LabStep]:
    """Report the begin of a command, if not done yet, and its end; no event revokes a command."""
    begins = [{"state": "running"}] if command.get("state", "queued") == "queued" else []
    messages = [*begins, *ends] if is_open(command) else []
    system, number = str(command.get("system") or ""), int(command["id"])
    return [LabStep(now_seconds, system, "command", body, lasting=True, command=number) for body in messages]


def _unknown(command: Command) -> Mapping[str, Any]:
    return {"state": "failed", "reason": f"unknown kind of command: {command['kind']}"}


_HANDLERS: dict[str, Callable[[SimulatedLab, Command, float], SimulatedLab]] = {
    "provision": _provision,
    "stop": _stop,
    "release": _release,
    "power": _at_once,
    "clear_netboot": _at_once,
    # A simulated lab has no log files.
    "delete-logs": _at_once,
}
