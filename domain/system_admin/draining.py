"""Draining of a system, by people and by maintenance windows. It ends when its last cause ends.

A person overrides windows: the system takes recipes again, although windows that drained it are not over.
"""

from __future__ import annotations

from dataclasses import replace

from domain.events import Decided
from domain.system.events import SystemDrained, SystemIdle, SystemMaintenanceEnded, SystemUndrained
from domain.system.state import System
from domain.system.usage import freed, takes_recipes


def drain(system: System, reason: str) -> Decided:
    """Return the events with which a person drains a system, none if a person has already drained it."""
    return [] if system.drained_by_person else _drained(system, SystemDrained(reason=reason))


def begin_maintenance(system: System, number: int, reason: str) -> Decided:
    """Return the events with which a window drains a system, none if it has done so before."""
    if number in system.windows or number in system.overridden_windows:
        return []
    return _drained(system, SystemDrained(reason=reason, window=number))


def _drained(system: System, event: SystemDrained) -> Decided:
    """Return the event of a cause of draining; a pending system becomes idle."""
    decided: Decided = [(system.subject, event)]
    if system.usage == "pending":
        decided.append((system.subject, SystemIdle()))
    return decided


def undrain(system: System, reason: str | None = None) -> Decided:
    """Return the events that end draining, none if it is off. An idle Automated system becomes pending."""
    if not system.draining:
        return []
    decided: Decided = [(system.subject, SystemUndrained(reason=reason))]
    undrained = replace(system, draining=False)
    if system.usage == "idle" and takes_recipes(undrained):
        decided.append(freed(undrained))
    return decided


def end_maintenance(system: System, number: int, reason: str) -> Decided:
    """Return the events of a system whose window has ended, none if the window has not drained it.

    Draining ends unless a person or another window drains the system, too.
    """
    if number not in system.windows and number not in system.overridden_windows:
        return []
    decided: Decided = [(system.subject, SystemMaintenanceEnded(window=number))]
    has_other_cause = system.drained_by_person or any(each != number for each in system.windows)
    return decided if has_other_cause else [*decided, *undrain(system, reason)]
