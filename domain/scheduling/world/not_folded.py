"""What happens in the log and changes nothing for a scheduler: its readers need not take it apart."""

from __future__ import annotations

from typing import Final

from domain.command import events as command
from domain.events import Event
from domain.job import events as job

_OF_OTHERS: Final[tuple[type[Event], ...]] = (
    # Whole jobs; each recipe says its part of them again.
    job.JobSubmitted,
    job.JobChanged,
    command.CommandRunning,
    command.CommandCompleted,
    command.CommandFailed,
)

NOT_FOLDED: Final = frozenset(each.TOPIC for each in _OF_OTHERS)
"""By topic."""
