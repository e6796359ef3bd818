"""The state folded from a log: tables of frozen values, which only `State.put` changes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from replay.audit.rights import OPEN, Entries, Rights, RightsCache, Submitter
from replay.audit.tables import FINISHED
from replay.audit.values import Distro, OwnRequirements, Recipe, RecipeSet, System

K = TypeVar("K")
V = TypeVar("V")


class State:
    """Tables of frozen values. `finished` has the finished recipes, `recipes` all others. Mutable."""

    def __init__(self) -> None:
        self.recipes: dict[int, Recipe] = {}
        self.finished: dict[int, Recipe] = {}
        self.sets: dict[int, RecipeSet] = {}
        self.systems: dict[str, System] = {}
        self.trees: dict[int, Mapping[str, Any]] = {}
        self.enabled: dict[str, bool] = {}
        # Labs whose controller has stopped reporting, or has never reported.
        self.silent: dict[str, bool] = {}
        # System -> its pools; pool -> its submit permissions.
        self.pools: dict[str, tuple[str, ...]] = {}
        self.policies: dict[str, Entries] = {}
        # Group -> its people, its former people, and whether it was removed.
        self.people: dict[str, frozenset[str]] = {}
        self.former_people: dict[str, frozenset[str]] = {}
        self.removed_groups: dict[str, bool] = {}
        # System -> the unfinished recipes on it, guests included.
        self.recipes_on: dict[str, tuple[int, ...]] = {}
        # Each distinct requirement, by the number that `OwnRequirements` refers to.
        self.requirements: list[str] = []
        self._own_requirements: dict[tuple[str, Distro | None], OwnRequirements] = {}
        self._numbers: dict[str, int] = {}
        self._submitters: dict[tuple[str | None, str | None], Submitter] = {}
        self._rights = RightsCache()

    def put(self, table: dict[K, V], key: K, value: V | None) -> None:
        """Set an entry of a table, or delete it (None). All changes go through this method."""
        if value is None:
            table.pop(key, None)
        else:
            table[key] = value

    def put_recipe(self, recipe: Recipe) -> None:
        number, before = recipe.recipe_id, self.recipes.get(recipe.recipe_id)
        was_on = None if before is None else before.system
        is_on = None if recipe.state in FINISHED else recipe.system
        if was_on is not None and was_on != is_on:
            others = tuple(other for other in self.recipes_on[was_on] if other != number)
            self.put(self.recipes_on, was_on, others or None)
        if recipe.state in FINISHED:
            self.put(self.recipes, number, None)
            self.put(self.finished, number, recipe)
            return
        if is_on is not None and was_on != is_on:
            self.put(self.recipes_on, is_on, (*self.recipes_on.get(is_on, ()), number))
        self.put(self.recipes, number, recipe)

    def put_system(self, system: System) -> None:
        """Replace a system whose description or rights may have changed."""
        rights = self._rights_on(system)
        if rights is not system.rights:
            system = system._replace(rights=rights)
        self.put(self.systems, system.fqdn, system)

    def _rights_on(self, system: System) -> Rights:
        pools = [self.policies[pool] for pool in self.pools.get(system.fqdn, ()) if pool in self.policies]
        if not pools and system.policy is None and system.borrower is None:
            # The common case where there are no policies.
            return OPEN
        return self._rights.of(system.policy, pools, system.owner, system.borrower)

    # Interned values

    def own_requirements(self, host_requires: str, distro: Distro | None) -> OwnRequirements:
        key = host_requires, distro
        if key not in self._own_requirements:
            number = self._numbers.setdefault(host_requires, len(self._numbers))
            if number == len(self.requirements):
                self.requirements.append(host_requires)
            self._own_requirements[key] = OwnRequirements(number, host_requires, distro)
        return self._own_requirements[key]

    def submitter(self, user: str | None, group: str | None) -> Submitter:
        key = user, group
        submitter = self._submitters.get(key)
        if submitter is None:
            submitter = self._submitters[key] = Submitter(*key)
        return submitter
