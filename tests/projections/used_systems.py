"""Histories of systems that recipes of several owners and groups have."""

from __future__ import annotations

from random import Random

from domain.job.events import JobSubmitted
from domain.recipe_set.events import RecipeSetSubmitted
from domain.system import events as system_events
from tests.domain.recipe.samples import recipe_new
from tests.projections.projected_log import ProjectedLog
from tests.projections.random_history import SYSTEMS, anything, write_history

HOURS = 30
RECIPES = {1: ("ada", None), 2: ("bob", "red"), 3: ("eve", "red"), 4: ("ada", "blue")}


def write_uses(models: ProjectedLog, dice: Random) -> None:
    """Write a history of systems that recipes of several owners and groups have."""
    for number, (who, group) in RECIPES.items():
        models.write(
            (f"job/{number}", JobSubmitted(who, who, group, "", (number,), {})),
            (f"recipe-set/{number}", RecipeSetSubmitted(number, "Normal", (number,))),
            (f"recipe/{number}", recipe_new(number, owner=who, group=group)),
        )
    write_history(models, dice)
    for _ in range(40):
        used = system_events.SystemRunning(dice.choice((*RECIPES, None)))
        models.write((f"system/{dice.choice(SYSTEMS)}", used), *anything(dice, SYSTEMS))
