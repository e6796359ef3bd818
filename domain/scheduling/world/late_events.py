"""The events that a scheduler may fold after its own commit, although they precede it in the log."""

from __future__ import annotations

from domain.events import Event
from domain.job.events import JobChanged, JobKeepEnded, JobKept
from domain.recipe.events import RecipeNew
from domain.recipe_set.events import RecipeSetSubmitted
from domain.scheduling.world.skipped_events import SKIPPED_EVENTS


def may_follow(event: Event) -> bool:
    """Return whether the state is the same if an event is folded after a commit of decisions, not before.

    A new set, of a new job, is in no line, holds nothing, and raises no trigger but its own. So decisions
    about other sets neither change it nor depend on it. A new set with dependencies is different: because of
    it, the end of another set raises a trigger.
    """
    if isinstance(event, RecipeSetSubmitted):
        return not event.depends_on
    # Of a changed job the scheduler only keeps the version, if the job is open.
    return isinstance(event, (RecipeNew, JobChanged, JobKept, JobKeepEnded, *SKIPPED_EVENTS))
