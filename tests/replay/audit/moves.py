"""Events of recipes, systems and the partition in stories, as pairs of a subject and an event."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from domain.directory.events import PartitionConfigured, PartitionJobFilterPut
from domain.events import Event
from domain.recipe import events as recipe_events
from domain.system import events as system_events

Pair = tuple[str, Event]
Locks = Mapping[str, Any]

NO_LOCKS: Locks = {}

LAB = "lab-1"
WHY = "no idle system is viable"
MACHINE = {"element": "system_type", "op": "==", "value": "Machine"}


def only(*names: str) -> dict[str, Any]:
    """Return a requirement that only these systems fulfil."""
    named = [{"element": "hostname", "op": "==", "value": name} for name in names]
    return {"and": [{"or": named}, MACHINE]}


def new(
    set_id: int, number: int, form: Mapping[str, Any], priority: str, **fields: Any
) -> recipe_events.RecipeNew:
    plain: dict[str, Any] = {
        "whiteboard": "",
        "role": None,
        "host_requires": json.dumps(form, sort_keys=True, separators=(",", ":")),
        "distro_requires": "",
        "autopick_random": False,
        "autopick_pools": (),
        "kernel_options": "",
        "kernel_options_post": "",
        "ks_meta": "",
        "tasks": ({"task_id": number, "name": "/check", "role": None, "params": {}},),
    }
    beside = {"job_id": set_id, "recipe_set_id": set_id, "owner": "ada", "group": None, "priority": priority}
    return recipe_events.RecipeNew(**{**beside, **plain, **fields})


# Single moves of a recipe or a system


def queued(number: int, reason: str = WHY) -> Pair:
    return f"recipe/{number}", recipe_events.RecipeQueued(reason=reason)


def assigned(number: int, lab: str = LAB, reason: str | None = None) -> Pair:
    return f"recipe/{number}", recipe_events.RecipeAssigned(lab_controller=lab, reason=reason)


def cancelled(number: int, reason: str = "not needed") -> Pair:
    return f"recipe/{number}", recipe_events.RecipeCancelled(reason=reason)


def aborted(number: int, reason: str = "no power") -> Pair:
    return f"recipe/{number}", recipe_events.RecipeAborted(reason=reason)


def scheduled(number: int, fqdn: str, lab: str = LAB, overtook: int | None = None) -> Pair:
    event = recipe_events.RecipeScheduled(system=fqdn, lab_controller=lab, overtook=overtook)
    return f"recipe/{number}", event


def waiting(number: int, fqdn: str, locks: Locks | None = NO_LOCKS) -> Pair:
    """Return the event of a recipe that gets these locks; None if its set waits for them."""
    return f"recipe/{number}", recipe_events.RecipeWaiting(system=fqdn, locks=locks)


def locked(number: int, locks: Locks) -> Pair:
    return f"recipe/{number}", recipe_events.RecipeLocked(locks=locks)


def narrowed(number: int, locks: Locks) -> Pair:
    return f"recipe/{number}", recipe_events.LocksNarrowed(locks=locks)


def idle(fqdn: str) -> Pair:
    return f"system/{fqdn}", system_events.SystemIdle()


def pending(fqdn: str) -> Pair:
    return f"system/{fqdn}", system_events.SystemPending()


def condition(fqdn: str, condition: str, reason: str = "fan") -> Pair:
    return f"system/{fqdn}", system_events.SystemConditionChanged(condition=condition, reason=reason)


def configured(**sections: Any) -> Pair:
    return "partition/default", PartitionConfigured(configuration=sections)


def rule(name: str, action: str, **document: Any) -> Pair:
    plain = {"priority": 0, "predicate": None, "limit": None, "reason": "", "watermark": 0}
    return "partition/default", PartitionJobFilterPut(name, {**plain, "action": action, **document})


# Moves of a recipe with its system


def grant(number: int, fqdn: str, lab: str = LAB, overtook: int | None = None) -> list[Pair]:
    mirrored = f"system/{fqdn}", system_events.SystemScheduled(recipe_id=number)
    return [scheduled(number, fqdn, lab, overtook), mirrored]


def start(number: int, fqdn: str, locks: Locks | None = NO_LOCKS) -> list[Pair]:
    return [waiting(number, fqdn, locks), (f"system/{fqdn}", system_events.SystemWaiting(recipe_id=number))]


def place(number: int, fqdn: str, lab: str = LAB, locks: Locks | None = NO_LOCKS) -> list[Pair]:
    """Return all events of a set of one recipe that is placed, and starts or (None) waits for its locks."""
    return [*grant(number, fqdn, lab), *start(number, fqdn, locks)]


def step(number: int, fqdn: str, state: str) -> list[Pair]:
    recipe_event = {"installing": recipe_events.RecipeInstalling, "running": recipe_events.RecipeRunning}[
        state
    ]
    usage = {"installing": system_events.SystemInstalling, "running": system_events.SystemRunning}[state]
    return [(f"recipe/{number}", recipe_event(system=fqdn)), (f"system/{fqdn}", usage(recipe_id=number))]
