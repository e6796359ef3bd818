"""The states of a command, and the event for each reported state."""

from __future__ import annotations

from collections.abc import Sequence

from domain.events import Event
from domain.lab_commands.events import CommandCompleted, CommandFailed, CommandRunning
from domain.lifecycle import Lifecycle, fan_in

COMMAND = Lifecycle(
    name="command",
    states=("queued", "running", "completed", "failed"),
    start=("queued",),
    rows=(
        ("queued", "running", "the lab controller has begun"),
        *fan_in(("queued", "running"), ("completed",), "done"),
        *fan_in(("queued", "running"), ("failed",), "it could not be done"),
    ),
)


def state_after(past: Sequence[Event]) -> str:
    """Return the state of a command from its events: `queued` without any."""
    return str(getattr(past[-1], "STATE", "queued")) if past else "queued"


def report(subject: str, before: str, after: str, reason: str) -> Event | None:
    """Return the event of a reported state, None if it is the present one. Raises Refused if impossible."""
    if before == after:
        return None
    COMMAND.require(subject, before, after)
    if after == "failed":
        return CommandFailed(reason=reason)
    return CommandRunning() if after == "running" else CommandCompleted()
