"""The state of a recipe set: its recipes and its priority, which may change until the set starts."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from domain.errors import Refused, display_subject
from domain.events import Decided, Event, Moment
from domain.fast_dataclasses import changed
from domain.priority import Priority
from domain.recipe_set.events import RecipeSetPriorityChanged, RecipeSetSubmitted
from domain.recipe_set.members import Members
from domain.roll_up import state_of


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


def change_priority(recipe_set: RecipeSet, members: Members, priority: Priority) -> Decided:
    """Return the event of a new priority, none if unchanged. Raises Refused for a started or finished set."""
    if recipe_set.priority == priority:
        return []
    name = display_subject(recipe_set.subject)
    if not members.unfinished:
        raise Refused(f"{name} is already {state_of(recipe.state for recipe in members.recipes)}")
    if members.started:
        raise Refused(f"{name} has already started")
    return [(recipe_set.subject, RecipeSetPriorityChanged(priority=priority.name))]
