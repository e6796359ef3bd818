"""Removal of the systems of a lab controller that is removed by force (design 6)."""

from __future__ import annotations

from collections.abc import Iterable

from domain.events import Decided
from domain.read_set import ReadSet
from domain.recipe_set.ending import abort
from domain.system.state import System
from domain.system_admin.condition import change_condition
from domain.system_admin.occupation import vacate

REMOVED = "Removed"


def remove_systems(gathered: ReadSet, fqdns: Iterable[str], reason: str) -> Decided:
    """Return the events that abort the recipes on systems, make the systems Removed, and vacate them.

    The read set contains the systems. Systems that are Removed already, or that do not exist, have no events.
    """
    decided: Decided = []
    for fqdn in fqdns:
        system = gathered.system(fqdn)
        if system is None or system.condition == REMOVED:
            continue
        for step in (_abort, _remove, _vacate):
            events = step(gathered, _present(gathered, fqdn), reason)
            gathered = gathered.after(events)
            decided += events
    return decided


def _present(gathered: ReadSet, fqdn: str) -> System:
    system = gathered.system(fqdn)
    assert system is not None
    return system


def _abort(gathered: ReadSet, system: System, reason: str) -> Decided:
    """Return the events that abort the recipe on a system, and its set if that has not started."""
    members = gathered.members_on(system)
    if members is None or system.recipe_id is None:
        return []
    return abort(members, members.recipe(system.recipe_id), reason)


def _remove(gathered: ReadSet, system: System, reason: str) -> Decided:
    return change_condition(system, gathered.members_on(system), REMOVED, reason)


def _vacate(_: ReadSet, system: System, reason: str) -> Decided:
    """Return the end of the occupation: without its lab controller, nobody could report it."""
    return vacate(system, reason)
