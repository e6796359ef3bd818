"""Events of commands. A command has no first event: it follows from a recipe or system event (`derive`)."""

from __future__ import annotations

from typing import ClassVar

from domain.events import Event, event


@event("command.running")
class CommandRunning(Event):
    STATE: ClassVar[str] = "running"


@event("command.completed")
class CommandCompleted(Event):
    STATE: ClassVar[str] = "completed"


@event("command.failed")
class CommandFailed(Event):
    STATE: ClassVar[str] = "failed"
    reason: str
