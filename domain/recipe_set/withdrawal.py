"""Withdrawal of systems from a set; its recipes keep their rank."""

from __future__ import annotations

from domain.events import Decided
from domain.recipe.events import RecipeAssigned, RecipeQueued
from domain.recipe.state import Recipe
from domain.recipe_set.members import Members


def withdraw(members: Members, host: Recipe, reason: str) -> Decided:
    """Return the events of the recipes of a set from which the system of `host` is withdrawn.

    The recipe is assigned if its set holds another system, which binds the set to the lab. Otherwise all
    recipes are queued. The caller adds the events of the system.
    """
    if any(other.recipe_id != host.recipe_id for other in members.holding):
        assert host.lab_controller is not None, f"{host.subject} is scheduled in no lab"
        return members.with_guests(host, RecipeAssigned(lab_controller=host.lab_controller, reason=reason))
    return members.all_of(lambda _: RecipeQueued(reason=reason))


def let_go(members: Members, reason: str) -> Decided:
    """Return the events of a set that releases all of its systems."""
    return members.all_of(lambda _: RecipeQueued(reason=reason)) + members.freeing(members.holding)
