"""Changes of the priority of a recipe set, which are possible until the set starts."""

from __future__ import annotations

from domain.errors import Refused
from domain.events import Decided
from domain.names import display_subject
from domain.priority import Priority
from domain.recipe_set.events import RecipeSetPriorityChanged
from domain.recipe_set.members import Members
from domain.recipe_set.state import RecipeSet
from domain.roll_up import state_of


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
