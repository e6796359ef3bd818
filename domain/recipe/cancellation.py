"""A person stops a recipe."""

from __future__ import annotations

from domain.events import Event
from domain.recipe.events import RecipeCancelled
from domain.recipe.reports import Decided, release
from domain.recipe.state import Recipe
from domain.system.state import System


def cancel(recipe: Recipe, system: System | None, reason: str) -> Decided:
    """The events that end it, and give back the system it is on; none for a finished recipe."""
    if recipe.finished:
        return []
    cancelled: tuple[str, Event] = (recipe.subject, RecipeCancelled(reason=reason))
    return [cancelled] if system is None else [cancelled, release(system)]
