"""The withdrawal of systems from a set that has not started; its recipes keep their rank."""

from __future__ import annotations

from domain.events import Decided
from domain.recipe.events import RecipeAssigned, RecipeQueued
from domain.recipe.state import Recipe
from domain.recipe_set.members import Members


def withdraw(members: Members, host: Recipe, reason: str) -> Decided:
    """Return the events of a recipe that loses its system, without those of the system.

    The set stays in its lab as long as it holds another system there.
    """
    if any(other.recipe_id != host.recipe_id for other in members.holding):
        assert host.lab_controller is not None, f"{host.subject} is scheduled in no lab"
        return members.together(host, RecipeAssigned(lab_controller=host.lab_controller, reason=reason))
    return members.all_of(lambda _: RecipeQueued(reason=reason))


def let_go(members: Members, reason: str) -> Decided:
    """Return the events of a set that releases all of its systems."""
    return members.all_of(lambda _: RecipeQueued(reason=reason)) + members.freeing(members.holding)
