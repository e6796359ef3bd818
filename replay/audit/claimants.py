"""The claimants that systems ask before all other recipes."""

from __future__ import annotations

from replay.audit.safety import could_take_safely
from replay.audit.scheduler_view import SchedulerView
from replay.audit.system_matcher import SystemMatcher
from replay.audit.tables import IN_QUEUE
from replay.audit.values import Recipe, System


def claimant_of(view: SchedulerView, system: System) -> Recipe | None:
    """Return the waiting recipe that claims a system, also if the claim has just ended as served."""
    number = view.claims.get(system.fqdn, view.served.get(system.fqdn))
    recipe = None if number is None else view.recipes.get(number)
    return recipe if recipe is not None and recipe.state in IN_QUEUE else None


def first_claimant(view: SchedulerView, matcher: SystemMatcher, system: System) -> Recipe | None:
    """Return the claimant of a free system if it has room and could take the system safely."""
    recipe = claimant_of(view, system)
    if recipe is None or not could_take_safely(view, matcher, recipe, system):
        return None
    return recipe
