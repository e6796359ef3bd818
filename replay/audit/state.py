"""What is kept of a log: tables of frozen values, which change in one place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from replay.audit.rights import OPEN, AllRights, Entries, Rights, Who
from replay.audit.tables import FINISHED
from replay.audit.values import Distro, Recipe, RecipeSet, System, Wants

K = TypeVar("K")
V = TypeVar("V")


class State:
    """Mutable, of frozen values. `finished` are the recipes that never change again."""

    def __init__(self) -> None:
        self.recipes: dict[int, Recipe] = {}
        self.finished: dict[int, Recipe] = {}
        self.sets: dict[int, RecipeSet] = {}
        self.systems: dict[str, System] = {}
        self.trees: dict[int, Mapping[str, Any]] = {}
        self.enabled: dict[str, bool] = {}
        # Labs whose controller has stopped reporting, or has never been heard.
        self.silent: dict[str, bool] = {}
        # By system the pools that it is in, and by pool who may submit to those in it.
        self.pools: dict[str, tuple[str, ...]] = {}
        self.policies: dict[str, Entries] = {}
        # By group who is in it, who was and is not any more, and whether it is gone.
        self.people: dict[str, frozenset[str]] = {}
        self.left: dict[str, frozenset[str]] = {}
        self.gone: dict[str, bool] = {}
        # Who of the unfinished is on a system, guests too.
        self.on: dict[str, tuple[int, ...]] = {}
        # Each once, by the numbers that recipes' wants have.
        self.requirements: list[str] = []
        self._wants: dict[tuple[str, Distro | None], Wants] = {}
        self._numbers: dict[str, int] = {}
        self._whose: dict[tuple[str | None, str | None], Who] = {}
        self._rights = AllRights()

    def put(self, table: dict[K, V], key: K, value: V | None) -> None:
        """One thing is otherwise from now on, or gone (None): every change goes through here."""
        if value is None:
            table.pop(key, None)
        else:
            table[key] = value

    def put_recipe(self, recipe: Recipe) -> None:
        number, before = recipe.recipe_id, self.recipes.get(recipe.recipe_id)
        was_on = None if before is None else before.system
        is_on = None if recipe.state in FINISHED else recipe.system
        if was_on is not None and was_on != is_on:
            others = tuple(other for other in self.on[was_on] if other != number)
            self.put(self.on, was_on, others or None)
        if recipe.state in FINISHED:
            self.put(self.recipes, number, None)
            self.put(self.finished, number, recipe)
            return
        if is_on is not None and was_on != is_on:
            self.put(self.on, is_on, (*self.on.get(is_on, ()), number))
        self.put(self.recipes, number, recipe)

    def put_system(self, system: System) -> None:
        """What it is has changed, and perhaps with it who may have it."""
        rights = self._rights_on(system)
        if rights is not system.rights:
            system = system._replace(rights=rights)
        self.put(self.systems, system.fqdn, system)

    def _rights_on(self, system: System) -> Rights:
        pools = [self.policies[pool] for pool in self.pools.get(system.fqdn, ()) if pool in self.policies]
        if not pools and system.policy is None and system.borrower is None:
            # By far the most, where nobody has policies.
            return OPEN
        return self._rights.of(system.policy, pools, system.owner, system.borrower)

    # Equal ones are one

    def wants(self, host_requires: str, distro: Distro | None) -> Wants:
        key = host_requires, distro
        if key not in self._wants:
            number = self._numbers.setdefault(host_requires, len(self._numbers))
            if number == len(self.requirements):
                self.requirements.append(host_requires)
            self._wants[key] = Wants(number, host_requires, distro)
        return self._wants[key]

    def who(self, user: str | None, group: str | None) -> Who:
        key = user, group
        who = self._whose.get(key)
        if who is None:
            who = self._whose[key] = Who(*key)
        return who
