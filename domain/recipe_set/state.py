"""The state of a recipe set: its recipes and priority."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from domain.events import Event, Moment
from domain.fast_dataclasses import changed
from domain.priority import Priority
from domain.recipe_set.events import RecipeSetPriorityChanged, RecipeSetSubmitted


@dataclass(frozen=True, slots=True)
class RecipeSet:
    """A recipe set; `submission` is the position of its first event, `submitted_at` its recorded time."""

    recipe_set_id: int
    version: int
    job_id: int
    priority: Priority
    submission: int
    recipe_ids: tuple[int, ...]
    submitted_at: datetime | None = None

    @property
    def subject(self) -> str:
        return f"recipe-set/{self.recipe_set_id}"


def evolve(recipe_set: RecipeSet | None, recipe_set_id: int, event: Event, moment: Moment) -> RecipeSet:
    """Return the recipe set after an event."""
    if isinstance(event, RecipeSetSubmitted):
        return RecipeSet(
            recipe_set_id=recipe_set_id,
            version=moment.version,
            job_id=event.job_id,
            priority=Priority[event.priority],
            submission=moment.position,
            recipe_ids=tuple(event.recipe_ids),
            submitted_at=moment.recorded_at,
        )
    assert recipe_set is not None, f"recipe set {recipe_set_id} has events before it was submitted"
    if isinstance(event, RecipeSetPriorityChanged):
        return changed(recipe_set, version=moment.version, priority=Priority[event.priority])
    return changed(recipe_set, version=moment.version)
