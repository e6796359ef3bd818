"""How a lab controller gets on with a command. That there is one follows from the log itself: a recipe that
is waiting wants its system provisioned. Its id is the position of that event.
"""

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
