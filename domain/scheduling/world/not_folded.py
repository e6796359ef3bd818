"""Events that change nothing for a scheduler, so that readers of the log need not decode them."""

from __future__ import annotations

from typing import Final

from domain.events import Event
from domain.job import events as job_events
from domain.lab_commands import events as command_events

_OF_OTHERS: Final[tuple[type[Event], ...]] = (
    # The events of recipes and recipe sets repeat what the scheduler needs of a job.
    job_events.JobSubmitted,
    job_events.JobChanged,
    command_events.CommandRunning,
    command_events.CommandCompleted,
    command_events.CommandFailed,
)

NOT_FOLDED: Final = frozenset(each.TOPIC for each in _OF_OTHERS)
"""The topics of these events."""
