"""Draining: a draining system finishes its recipe and accepts no new one."""

from __future__ import annotations

from dataclasses import replace

from domain.events import Decided
from domain.system.events import SystemDrained, SystemIdle, SystemUndrained
from domain.system.state import System
from domain.system.usage import freed, is_automated


def drain(system: System, reason: str) -> Decided:
    """Return the events that start draining, none if the system is draining; a pending one becomes idle."""
    if system.draining:
        return []
    decided: Decided = [(system.subject, SystemDrained(reason=reason))]
    if system.usage == "pending":
        decided.append((system.subject, SystemIdle()))
    return decided


def undrain(system: System) -> Decided:
    """Return the events that end draining, none if it is off. An idle Automated system becomes pending."""
    if not system.draining:
        return []
    decided: Decided = [(system.subject, SystemUndrained())]
    if system.usage == "idle" and is_automated(system.condition):
        decided.append(freed(replace(system, draining=False)))
    return decided
