"""A set that has not started loses a system, or gives all of them back; its recipes keep their place."""

from __future__ import annotations

from domain.events import Decided
from domain.recipe.events import RecipeAssigned, RecipeQueued
from domain.recipe.state import Recipe
from domain.recipe_set.members import Members


def withdraw(members: Members, host: Recipe, reason: str) -> Decided:
    """The recipe's part of losing its system: what becomes of the system, its own change has to say.

    The set stays in its lab as long as it holds another system there.
    """
    if any(other.recipe_id != host.recipe_id for other in members.holding):
        assert host.lab_controller is not None, f"{host.subject} is scheduled in no lab"
        return members.together(host, RecipeAssigned(lab_controller=host.lab_controller, reason=reason))
    return members.all_of(lambda _: RecipeQueued(reason=reason))


def let_go(members: Members, reason: str) -> Decided:
    """The set gives back every system it holds."""
    return members.all_of(lambda _: RecipeQueued(reason=reason)) + members.freeing(members.holding)
