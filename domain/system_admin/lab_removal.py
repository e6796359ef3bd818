"""Removal of the systems of a lab controller that is removed by force (design 6)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from domain.events import Decided
from domain.read_set import ReadSet
from domain.recipe_set.ending import abort
from domain.system.state import System
from domain.system_admin.condition import change_condition

REMOVED = "Removed"


def remove_systems(gathered: ReadSet, fqdns: Iterable[str], reason: str) -> Decided:
    """Return the events that abort the recipes on systems and make the systems Removed.

    The read set contains the systems. Systems that are Removed already, or that do not exist, have no events.
    """
    decided: Decided = []
    for fqdn in fqdns:
        for step in (_abort, _remove):
            events = [
                event for system in _present(gathered, fqdn) for event in step(gathered, system, reason)
            ]
            gathered = gathered.after(events)
            decided += events
    return decided


def _present(gathered: ReadSet, fqdn: str) -> Iterator[System]:
    system = gathered.system(fqdn)
    if system is not None and system.condition != REMOVED:
        yield system


def _abort(gathered: ReadSet, system: System, reason: str) -> Decided:
    """Return the events that abort the recipe on a system, and its set if that has not started."""
    members = gathered.members_on(system)
    if members is None or system.recipe_id is None:
        return []
    return abort(members, members.recipe(system.recipe_id), reason)


def _remove(gathered: ReadSet, system: System, reason: str) -> Decided:
    return change_condition(system, gathered.members_on(system), REMOVED, reason)
