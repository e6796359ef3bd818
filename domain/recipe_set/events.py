"""Events of recipe sets. Changes of state are events of the recipes."""

from __future__ import annotations

from collections.abc import Sequence

from domain.events import Event, event


@event("recipe-set.submitted")
class RecipeSetSubmitted(Event):
    """`recipe_ids` are in document order, each host before its guests."""

    job_id: int
    priority: str
    recipe_ids: Sequence[int]


@event("recipe-set.priority-changed")
class RecipeSetPriorityChanged(Event):
    priority: str
