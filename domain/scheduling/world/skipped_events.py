"""Events that do not affect scheduling, so that the scheduler need not decode them."""

from __future__ import annotations

from typing import Final

from domain.events import Event
from domain.job import events as job_events
from domain.lab_commands import events as command_events
from domain.recipe_set import events as recipe_set_events

SKIPPED_EVENTS: Final[tuple[type[Event], ...]] = (
    # The events of recipes and recipe sets repeat all fields of a job that the scheduler needs.
    job_events.JobSubmitted,
    job_events.JobKeyUsed,
    # Only jobs that have ended lose their results.
    job_events.JobResultsDeleted,
    job_events.JobLogsExpired,
    command_events.CommandRunning,
    command_events.CommandCompleted,
    command_events.CommandFailed,
    # Only ended sets are reviewed, and these have left the scheduler.
    recipe_set_events.RecipeSetReviewed,
    recipe_set_events.RecipeSetWaived,
    recipe_set_events.RecipeSetWaiverEnded,
)

SKIPPED_TOPICS: Final = frozenset(event.TOPIC for event in SKIPPED_EVENTS)
