"""Begin and end of the occupation of systems, on which something runs against the log (design 6)."""

from __future__ import annotations

from dataclasses import replace

from domain.events import Decided
from domain.recipe_set.members import Members, withdraw
from domain.system.events import SystemIdle, SystemOccupied, SystemVacated
from domain.system.state import Occupation, System
from domain.system.usage import freed, takes_recipes


def occupy(system: System, members: Members | None, occupation: Occupation) -> Decided:
    """Return the events that make a system occupied, none if it is occupied so already.

    `members` are those of the recipe that has the system. If that has not started, it loses the system; a
    recipe that has started keeps it.
    """
    if system.occupied == occupation:
        return []
    event = SystemOccupied(occupation.reason, occupation.recipe_id, occupation.attempt)
    decided: Decided = [(system.subject, event)]
    if members is not None and system.recipe_id is not None:
        recipe = members.recipe(system.recipe_id)
        if not recipe.started:
            occupied = replace(system, occupied=occupation)
            why = f"{system.fqdn} is occupied: {occupation.reason}"
            decided += [*withdraw(members, recipe, why), freed(occupied)]
    elif system.usage == "pending":
        decided.append((system.subject, SystemIdle()))
    return decided


def vacate(system: System, reason: str) -> Decided:
    """Return the events that end the occupation of a system, none if it is not occupied.

    The system is pending if it is free and recipes may have it.
    """
    if system.occupied is None:
        return []
    vacant = replace(system, occupied=None)
    decided: Decided = [(system.subject, SystemVacated(reason))]
    is_free = system.usage == "idle" and system.reservation is None
    return [*decided, freed(vacant)] if is_free and takes_recipes(vacant) else decided
