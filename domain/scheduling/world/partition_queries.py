"""Queries of a partition: the members of a set, and bitmaps of systems for a recipe."""

from __future__ import annotations

from typing import Final

from domain.access.submit_rights import Submitter
from domain.directory.state import Directory
from domain.events import split_subject
from domain.priority import Priority
from domain.recipe.state import Recipe
from domain.recipe_set.members import Members
from domain.scheduling.bitsets.bitmaps import union
from domain.scheduling.demand.filters import Filters
from domain.scheduling.sets.recipe_sets import RecipeSets
from domain.scheduling.supply.access_updates import AccessUpdates
from domain.scheduling.supply.availability import Availability
from domain.scheduling.supply.labs import Labs
from domain.system.state import System

EVERY_SYSTEM: Final = -1


class PartitionQueries:
    """The read-only base class of a partition."""

    directory: Directory
    labs: Labs
    available: Availability
    filters: Filters
    sets: RecipeSets
    systems: dict[str, System]
    _access_updates: AccessUpdates

    def systems_of_wake_up(self, subject: str) -> int:
        """Return the systems that the subject of a wake-up names, idle or not."""
        kind, name = split_subject(subject)
        if kind == "system":
            return 1 << self.labs.number(name)
        if kind == "partition":
            return EVERY_SYSTEM
        if kind == "recipe-set":
            return union(self.viable(host) for host in self.sets.hosts(int(name)))
        return self.labs.lab_controller[name]

    def system(self, number: int) -> System:
        return self.systems[self.labs.names[number]]

    def members(self, recipe_set_id: int) -> Members:
        recipes = self.sets.members(recipe_set_id)
        systems = {recipe.system: self.systems[recipe.system] for recipe in recipes if recipe.system}
        return Members(recipes, systems)

    def is_for_forced_only(self, system: System) -> bool:
        """Return whether only recipes that force a usable system may have it."""
        return not self.available.usable(forced=False) >> self.labs.number(system.fqdn) & 1

    def effective_priority(self, host: Recipe, system: System) -> Priority:
        """Return the effective priority of a recipe that may be submitted to the system (design 5.2)."""
        rights = self.labs.access.of(self.labs.number(system.fqdn))
        nominal = self.sets.sets[host.recipe_set_id].priority
        return Priority(min(nominal, self.labs.access.cap(rights, self.sets.index.demand(host).submitter)))

    def entitled(self, host: Recipe) -> int:
        """Return the systems that fit a recipe and to which its job may be submitted, loans ignored."""
        key, submitter = self.sets.index.demand(host)
        return self.filters.fitting(key) & self.labs.access.entitled(submitter)

    def submitter(self, owner: str, group: str | None) -> Submitter:
        """Return the submitter of a job with this owner and group."""
        return self._access_updates.submitter(owner, group)

    def viable(self, host: Recipe) -> int:
        """Return the viable systems of a recipe: those that fit and that access and loans allow."""
        key, submitter = self.sets.index.demand(host)
        return self.filters.fitting(key) & self.labs.access.allowed(submitter)

    def in_silent_labs(self) -> int:
        """Return the bitmap of the systems whose lab controller is silent."""
        return union(lab for name, lab in self.labs.each() if self.directory.is_silent(name))

    def usable(self, host: Recipe) -> int:
        """Return the viable systems that a recipe may get now or when they come free."""
        forced = self.sets.index.key(host).forced is not None
        return self.viable(host) & self.available.usable(forced=forced)

    def idle(self, host: Recipe) -> int:
        """Return the viable systems that a recipe may get now."""
        forced = self.sets.index.key(host).forced is not None
        return self.viable(host) & self.available.idle(forced=forced)
