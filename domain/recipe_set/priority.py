"""The priority of a set is changed while it waits."""

from __future__ import annotations

from domain.errors import Refused
from domain.events import Decided
from domain.priority import Priority
from domain.recipe_set.events import RecipeSetPriorityChanged
from domain.recipe_set.members import Members
from domain.recipe_set.state import RecipeSet
from domain.roll_up import state_of


def change_priority(recipe_set: RecipeSet, members: Members, priority: Priority) -> Decided:
    """Nothing if it has that priority. Raises Refused once the set has started: there it has no meaning."""
    if recipe_set.priority == priority:
        return []
    if not members.unfinished:
        raise Refused(f"{recipe_set.subject} is {state_of(recipe.state for recipe in members.recipes)}")
    if members.started:
        raise Refused(f"{recipe_set.subject} has started: its priority decides nothing any more")
    return [(recipe_set.subject, RecipeSetPriorityChanged(priority=priority.name))]
