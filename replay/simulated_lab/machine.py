"""Timed messages of one simulated machine while it runs a recipe and its guests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from replay.simulated_lab.behaviour import Behaviour
from replay.simulated_lab.steps import Command, LabStep, Progress, is_open, numbered
from replay.simulated_lab.timeline import FAULTS, GUEST_FAULTS, Life, Timed, strike, timeline

FAILED = "the simulated machine failed"
BROKEN = "the simulated machine broke"
REPAIRED = "the simulated machine was repaired"


def life(command: Command, behaviour: Behaviour, now_seconds: float) -> tuple[LabStep, ...]:
    """Return the messages after provisioning a system, for a recipe or for a person with a reservation."""
    steps = _reservation if command.get("recipe_id") is None else _recipe
    return numbered(steps(command, behaviour, now_seconds))


def _recipe(command: Command, behaviour: Behaviour, now_seconds: float) -> Iterator[LabStep]:
    """Yield messages of a host and its guests, which begin with its first task and end before it."""
    host = int(command["recipe_id"])
    own = strike(timeline(host, command, behaviour, now_seconds), FAULTS, behaviour, command["id"], host)
    end = own.end_seconds
    yield from _progress(command, host, own.messages)
    for guest_id, theirs in _guests(command, own, behaviour):
        messages = [*theirs.messages, *((theirs.end_seconds, words) for words in _last_words(theirs))]
        if own.fault is not None:
            messages = [timed for timed in messages if timed[0] <= own.end_seconds]
        yield from _progress(command, guest_id, messages)
        end = max([end, *(due for due, _ in messages)])
    yield from _farewell(command, own, end, behaviour)


def _guests(command: Command, host: Life, behaviour: Behaviour) -> Iterator[tuple[int, Life]]:
    if host.begun_seconds is None:
        return
    for guest in command.get("guests") or ():
        guest_id = int(guest["recipe_id"])
        whole = timeline(guest_id, {**guest, "id": command["id"]}, behaviour, host.begun_seconds)
        yield guest_id, strike(whole, GUEST_FAULTS, behaviour, command["id"], guest_id)


def _farewell(command: Command, own: Life, end_seconds: float, behaviour: Behaviour) -> Iterator[LabStep]:
    """Yield last messages: the lab reports a break, the command a failure before the first task."""
    if own.fault == "break":
        yield from _broken(command, end_seconds, behaviour)
    elif own.fault == "fail" and own.begun_seconds is None and is_open(command):
        yield _report(command, end_seconds, {"state": "failed", "reason": FAILED})
    else:
        words = [(end_seconds, words) for words in _last_words(own)]
        yield from _progress(command, int(command["recipe_id"]), words)


def _last_words(life: Life) -> list[Progress]:
    if life.fault is None:
        return [{"state": "completed"}]
    return [{"state": "aborted", "reason": FAILED}] if life.fault == "fail" else []


def _reservation(command: Command, behaviour: Behaviour, now_seconds: float) -> Iterator[LabStep]:
    """Yield the messages of a person's system: without a recipe, all of them are about the command."""
    up = now_seconds + behaviour.seconds(behaviour.boot_seconds, "boot", command["id"])
    done = up + behaviour.seconds(behaviour.install_seconds, "install", command["id"])
    own = strike(Life(((up, {}),), done), FAULTS, behaviour, command["id"])
    if own.fault == "break":
        yield from _broken(command, own.end_seconds, behaviour)
    elif own.fault == "fail":
        yield _report(command, own.end_seconds, {"state": "failed", "reason": FAILED})
    elif own.fault is None:
        yield _report(command, own.end_seconds, {"state": "completed"})


def _progress(command: Command, recipe_id: int, messages: Iterable[Timed]) -> Iterator[LabStep]:
    """Yield messages of a recipe, which name its attempt as the command does."""
    system, host_id = str(command["system"]), int(command["recipe_id"])
    attempt = {"attempt": command["attempt"]} if command.get("attempt") else {}
    for due, progress in messages:
        yield LabStep(due, system, "progress", {**progress, **attempt}, recipe_id, host_id)


def _broken(command: Command, at_seconds: float, behaviour: Behaviour) -> Iterator[LabStep]:
    """Yield the break, and the repair, which belongs to the system whatever happens to the recipe."""
    system, recipe_id = str(command["system"]), command.get("recipe_id")
    repaired = at_seconds + behaviour.seconds(behaviour.repair_seconds, "repair", command["id"])
    breaks = {"fqdn": system, "condition": "Broken", "reason": BROKEN}
    mended = {"fqdn": system, "condition": "Automated", "reason": REPAIRED}
    yield LabStep(at_seconds, system, "system", breaks, recipe_id, recipe_id)
    yield LabStep(repaired, system, "system", mended, lasting=True)


def _report(command: Command, due_seconds: float, report: Progress) -> LabStep:
    recipe_id, number = command.get("recipe_id"), int(command["id"])
    return LabStep(
        due_seconds, str(command["system"]), "command", report, recipe_id, recipe_id, command=number
    )
