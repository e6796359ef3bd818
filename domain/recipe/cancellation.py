"""A person stops a recipe."""

from __future__ import annotations

from domain.events import Decided, Event
from domain.recipe.events import RecipeCancelled
from domain.recipe.state import Recipe
from domain.system.state import System
from domain.system.usage import freed


def cancel(recipe: Recipe, system: System | None, reason: str) -> Decided:
    """The events that end it, and give back the system it is on; none for a finished recipe."""
    if recipe.finished:
        return []
    cancelled: tuple[str, Event] = (recipe.subject, RecipeCancelled(reason=reason))
    return [cancelled] if system is None else [cancelled, freed(system)]
