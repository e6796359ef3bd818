"""What becomes of a system when nobody has it (design section 2)."""

from __future__ import annotations

from domain.events import Event
from domain.system.events import SystemIdle, SystemPending
from domain.system.state import System


def freed(system: System) -> tuple[str, Event]:
    """Its recipe has ended: the queue looks first, if recipes may have it at all."""
    return system.subject, SystemPending() if is_automated(system.condition) else SystemIdle()


def is_automated(condition: str) -> bool:
    """Whether recipes may have a system of this condition without forcing it."""
    return condition == "Automated"


def in_idle_pool(condition: str, usage: str) -> bool:
    return usage == "idle" and is_automated(condition)
