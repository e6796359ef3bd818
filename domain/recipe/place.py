"""The place of a recipe: its system and the lab controller to which it is bound, each None without one."""

from __future__ import annotations

from domain.events import Event
from domain.recipe.events import RecipeAssigned, RecipeQueued, RecipeScheduled

Place = tuple[str | None, str | None]
"""System and lab controller."""

NOWHERE: Place = (None, None)


def place_after(before: Place, event: Event) -> Place:
    """Return the place after an event of the recipe. A recipe that ends keeps its place."""
    if isinstance(event, RecipeScheduled):
        return event.system, event.lab_controller
    if isinstance(event, RecipeAssigned):
        return None, event.lab_controller
    return NOWHERE if isinstance(event, RecipeQueued) else before
