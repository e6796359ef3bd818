"""Changes of a system's condition, with their effect on its recipe (design section 2)."""

from __future__ import annotations

from dataclasses import replace

from domain.events import Decided
from domain.recipe.state import Recipe
from domain.recipe_set.ending import abort
from domain.recipe_set.members import Members, withdraw
from domain.requirements.host import forced_system
from domain.system.events import (
    SystemConditionChanged,
    SystemIdle,
    SystemLoanEnded,
    SystemReservationEnded,
)
from domain.system.lifecycle import WITHOUT_RECIPES
from domain.system.state import System
from domain.system.usage import condition_reason, freed, takes_recipes


def change_condition(system: System, members: Members | None, condition: str, reason: str) -> Decided:
    """Return the events, none without a change. `members`: the set of the recipe on the system, if any."""
    if system.condition == condition:
        return []
    changed = replace(system, condition=condition)
    decided: Decided = [(system.subject, SystemConditionChanged(condition=condition, reason=reason))]
    if condition == "Removed" and system.loan is not None:
        decided.append((system.subject, SystemLoanEnded(reason=condition_reason(changed, reason))))
    if system.reservation is not None:
        return decided + (_reservation_ends(changed, reason) if condition == "Removed" else [])
    if members is None or system.recipe_id is None:
        return decided + _without_recipe(changed)
    members = replace(members, systems={**members.systems, system.fqdn: changed})
    return decided + _with_recipe(changed, members, members.recipe(system.recipe_id), reason)


def _with_recipe(system: System, members: Members, recipe: Recipe, reason: str) -> Decided:
    why = condition_reason(system, reason)
    if system.condition not in WITHOUT_RECIPES:
        return []
    if recipe.started:
        return abort(members, recipe, why)
    if system.condition == "Broken" and forced_system(recipe.host_requires) is not None:
        return []
    return [*withdraw(members, recipe, why), freed(system)]


def _without_recipe(system: System) -> Decided:
    """Return the event that makes a system without user pending or idle; none for one that stays idle."""
    if takes_recipes(system) or system.usage == "pending":
        return [freed(system)]
    return []


def _reservation_ends(system: System, reason: str) -> Decided:
    ended = SystemReservationEnded(reason=condition_reason(system, reason))
    return [(system.subject, ended), (system.subject, SystemIdle())]
