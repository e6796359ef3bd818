"""Sample recipe sets: one host per state, each on its own system if the state has one."""

from __future__ import annotations

from dataclasses import replace

from domain.recipe.lifecycle import PLACED, UNPLACED
from domain.recipe.state import Recipe, Task
from domain.recipe_set.members import Members
from domain.system.state import System
from tests.domain.recipe.samples import recipe_in, system_in

SYSTEMS = "abcdef"


def members_of(recipe: Recipe, system: System | None = None, *others: Recipe) -> Members:
    """Return a set of a recipe on system `a`, and others."""
    systems = {} if system is None else {system.fqdn: system}
    return Members(tuple(sorted((recipe, *others), key=lambda each: each.recipe_id)), systems)


def usage_of(state: str) -> str:
    """Return the usage of a system with a recipe in this state."""
    return "running" if state == "reserved" else state


def set_of(*states: str, condition: str = "Automated") -> Members:
    """Return hosts 1, 2, ... in these states on systems `a`, `b`, ...; each has one task of its number."""
    recipes = tuple(
        recipe_at(number, state, SYSTEMS[number - 1]) for number, state in enumerate(states, start=1)
    )
    return Members(recipes, {each.system: system_of(each, condition) for each in recipes if each.system})


def recipe_at(number: int, state: str, fqdn: str) -> Recipe:
    task = "new" if state in UNPLACED or state in ("scheduled", "waiting", "installing") else "running"
    recipe = replace(
        recipe_in(state), recipe_id=number, recipe_set_id=1, tasks=(Task(number, "/check", task),)
    )
    if state in UNPLACED:
        return replace(recipe, lab_controller="lab-1" if state == "assigned" else None)
    return replace(recipe, system=fqdn)


def system_of(recipe: Recipe, condition: str = "Automated") -> System:
    assert recipe.system is not None
    if recipe.state not in PLACED:
        return replace(system_in("pending", condition), fqdn=recipe.system)
    system = system_in(usage_of(recipe.state), condition)
    return replace(system, fqdn=recipe.system, recipe_id=recipe.recipe_id)


def guest_of(host: Recipe, number: int, state: str | None = None, *tasks: str) -> Recipe:
    """Return a guest of a host, in the state of the host unless another one is given."""
    made = tuple(Task(number * 10 + place, "/check", task) for place, task in enumerate(tasks))
    return replace(
        host, recipe_id=number, host_recipe_id=host.recipe_id, state=state or host.state, tasks=made
    )
