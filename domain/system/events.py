"""What happens to a system. Every usage has an event of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from domain.events import Event, event


@event("system.registered")
class SystemRegistered(Event):
    """`inventory` is the document of the outside, without what stands beside it here."""

    lab_controller: str
    owner: str
    condition: str
    inventory: Mapping[str, Any]


@event("system.idle")
class SystemIdle(Event):
    USAGE: ClassVar[str] = "idle"


@event("system.pending")
class SystemPending(Event):
    USAGE: ClassVar[str] = "pending"


@event("system.scheduled")
class SystemScheduled(Event):
    USAGE: ClassVar[str] = "scheduled"
    recipe_id: int


@event("system.waiting")
class SystemWaiting(Event):
    USAGE: ClassVar[str] = "waiting"
    recipe_id: int


@event("system.installing")
class SystemInstalling(Event):
    USAGE: ClassVar[str] = "installing"
    recipe_id: int


@event("system.running")
class SystemRunning(Event):
    USAGE: ClassVar[str] = "running"
    recipe_id: int
