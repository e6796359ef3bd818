"""Read sets of sample recipe sets."""

from __future__ import annotations

from domain.events import Moment
from domain.read_set import ReadSet
from domain.recipe_set.events import RecipeSetSubmitted
from domain.recipe_set.members import Members
from domain.subjects import State, evolve
from domain.system.state import System


def read_set(members: Members, *systems: System) -> ReadSet:
    """Return the read set of a recipe set with its systems, and of further systems."""
    states: list[State] = [*members.recipes, *members.systems.values(), *systems]
    for number in {recipe.recipe_set_id for recipe in members.recipes}:
        submitted = RecipeSetSubmitted(1, "Normal", [recipe.recipe_id for recipe in members.recipes])
        states.append(evolve(f"recipe-set/{number}", None, submitted, Moment(1, 1, None)))
    return ReadSet({state.subject: state for state in states})
