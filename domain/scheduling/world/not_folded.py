"""Events that change nothing for a scheduler, so that readers of the log need not decode them."""

from __future__ import annotations

from typing import Final

from domain.events import Event
from domain.job import events as job
from domain.lab_commands import events as command

_OF_OTHERS: Final[tuple[type[Event], ...]] = (
    # The events of recipes and recipe sets repeat what the scheduler needs of a job.
    job.JobSubmitted,
    job.JobChanged,
    command.CommandRunning,
    command.CommandCompleted,
    command.CommandFailed,
)

NOT_FOLDED: Final = frozenset(each.TOPIC for each in _OF_OTHERS)
"""The topics of these events."""
