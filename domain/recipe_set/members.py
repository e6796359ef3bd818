"""Members: the recipes of a set with their systems, as input of decisions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from domain.events import Decided, Event
from domain.recipe.events import RecipeAssigned, RecipeQueued
from domain.recipe.lifecycle import BEFORE_START
from domain.recipe.state import Recipe
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
        """Return the hosts that are scheduled."""
        return tuple(host for host in self.hosts if host.state == "scheduled")

    @cached_property
    def started(self) -> bool:
        """Return whether the set has started, that is no recipe is in a state before the start."""
        return not any(recipe.state in BEFORE_START for recipe in self.recipes)

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
    """Return the events of the recipes of a set from which the system of `host` is withdrawn.

    The recipe is assigned if its set holds another system, which binds the set to the lab. Otherwise all
    recipes are queued. The caller adds the events of the system.
    """
    if any(other.recipe_id != host.recipe_id for other in members.holding):
        assert host.lab_controller is not None, f"{host.subject} is scheduled in no lab"
        return members.with_guests(host, RecipeAssigned(lab_controller=host.lab_controller, reason=reason))
    return members.all_of(lambda _: RecipeQueued(reason=reason))


def let_go(members: Members, reason: str) -> Decided:
    return members.all_of(lambda _: RecipeQueued(reason=reason)) + members.freeing(members.holding)
