"""Members: the recipes of a set with their systems, as input of decisions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from domain.events import Decided, Event
from domain.recipe.events import RecipeAssigned, RecipeQueued, RecipeScheduled
from domain.recipe.lifecycle import BEFORE_START
from domain.recipe.state import Recipe
from domain.system.events import SystemScheduled
from domain.system.state import System
from domain.system.usage import freed


@dataclass(frozen=True)
class Members:
    """The recipes of a set including guests, sorted by id, and their systems by name."""

    recipes: tuple[Recipe, ...]
    systems: Mapping[str, System]

    @cached_property
    def hosts(self) -> tuple[Recipe, ...]:
        """Return the recipes that are not guests, and so need a system of their own."""
        return tuple(recipe for recipe in self.recipes if not recipe.is_guest)

    @cached_property
    def unfinished(self) -> tuple[Recipe, ...]:
        return tuple(recipe for recipe in self.recipes if not recipe.finished)

    @cached_property
    def holding(self) -> tuple[Recipe, ...]:
        """Return the hosts that have systems, in a set that has not started."""
        return tuple(host for host in self.hosts if host.holds_early)

    @cached_property
    def started(self) -> bool:
        """Return whether the set has started: no recipe lacks a system or its locks."""
        return not any(recipe.state in BEFORE_START or recipe.awaits_locks for recipe in self.recipes)

    def recipe(self, recipe_id: int) -> Recipe:
        return next(recipe for recipe in self.recipes if recipe.recipe_id == recipe_id)

    def guests_of(self, host: Recipe) -> tuple[Recipe, ...]:
        return tuple([recipe for recipe in self.recipes if recipe.host_recipe_id == host.recipe_id])

    def system_of(self, host: Recipe) -> System | None:
        """Return the system of a host, None for a recipe that has none or has finished."""
        if host.system is None or host.finished:
            return None
        return self.systems[host.system]

    def with_guests(self, host: Recipe, event: Event) -> Decided:
        """Return the same event for a host and its guests, except finished ones."""
        return [(recipe.subject, event) for recipe in (host, *self.guests_of(host)) if not recipe.finished]

    def freeing(self, hosts: Iterable[Recipe]) -> Decided:
        systems = [self.system_of(host) for host in hosts]
        return [freed(system) for system in systems if system is not None]

    def all_of(self, make: Callable[[Recipe], Event]) -> Decided:
        return [(recipe.subject, make(recipe)) for recipe in self.unfinished]


def withdraw(members: Members, host: Recipe, reason: str) -> Decided:
    """Return the events of a set from which the system of `host` is withdrawn before the set has started.

    The recipe is assigned if its set holds another system, which binds the set to the lab; the other recipes
    are scheduled again if they waited for their locks. Without another system, all recipes are queued. The
    caller adds the events of the withdrawn system.
    """
    others = [other for other in members.holding if other.recipe_id != host.recipe_id]
    if not others:
        return members.all_of(lambda _: RecipeQueued(reason=reason))
    assert host.lab_controller is not None, f"{host.subject} is scheduled in no lab"
    assigned = RecipeAssigned(lab_controller=host.lab_controller, reason=reason)
    decided = members.with_guests(host, assigned)
    for other in others:
        if other.awaits_locks:
            decided += _scheduled_again(members, other)
    return decided


def _scheduled_again(members: Members, host: Recipe) -> Decided:
    assert host.system is not None and host.lab_controller is not None, f"{host.subject} has a system"
    scheduled = RecipeScheduled(system=host.system, lab_controller=host.lab_controller)
    usage: Event = SystemScheduled(recipe_id=host.recipe_id)
    return [*members.with_guests(host, scheduled), (f"system/{host.system}", usage)]


def let_go(members: Members, reason: str) -> Decided:
    return members.all_of(lambda _: RecipeQueued(reason=reason)) + members.freeing(members.holding)
