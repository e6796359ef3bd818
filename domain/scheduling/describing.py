"""What the directory and the systems say, told on to those who answer for all systems at once."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from domain.access.policy import Policy, policy_of
from domain.access.submitting import Who, submitting
from domain.directory.state import Directory
from domain.recipe.state import Recipe
from domain.scheduling.filters import Filters
from domain.scheduling.labs import Labs
from domain.system.state import System

# Systems are many, policies few.
_submitting = lru_cache(4096)(submitting)


class Describing:
    """Mutable: it keeps the policies of pools as they were read last."""

    def __init__(self, directory: Directory, labs: Labs, filters: Filters) -> None:
        self._directory = directory
        self._labs = labs
        self._filters = filters
        self._policies: dict[str, Policy] = {}

    def describe(self, system: System) -> None:
        """What is known of a system is new: filters are held against it, and who may submit there."""
        changed = self._labs.put(system, self._directory.pools_of(system.fqdn))
        self._filters.system_changed(self._labs.number(system.fqdn), changed)
        self._admit(system)

    def _admit(self, system: System) -> None:
        policies = tuple(map(self._policy_of, self._directory.pools_of(system.fqdn)))
        borrower = system.loan and system.loan.user
        decides = _submitting(system.access_policy, policies, system.owner, borrower)
        self._labs.access.put(self._labs.number(system.fqdn), decides)

    def pool_changed(self, pool: str, systems: Mapping[str, System]) -> None:
        """Its policy may be another one, for all systems that are in it."""
        self._policies.pop(pool, None)
        for fqdn in self._directory.systems_of(pool):
            self._admit(systems[fqdn])

    def tree_changed(self, name: str) -> None:
        entry = self._directory.get("distro-tree", name)
        if entry is None:
            self._labs.remove_tree(int(name))
        else:
            self._labs.put_tree(int(name), entry.document)
        self._filters.tree_changed(int(name))

    def who_of(self, recipe: Recipe) -> Who:
        """The owner of its job, and the group while it still is for that: as far as policies name them."""
        group = recipe.group
        if group is not None and not self._directory.still_for(group, recipe.owner):
            group = None
        return self._labs.access.who(recipe.owner, group)

    def _policy_of(self, pool: str) -> Policy:
        known = self._policies.get(pool)
        if known is None:
            entry = self._directory.get("pool", pool)
            entries = None if entry is None else entry.document.get("access_policy")
            known = self._policies[pool] = policy_of(entries or ())
        return known


def looks_alike(before: System, after: System) -> bool:
    """To filters, to preferences, and to who may submit there."""
    return _looks(before) == _looks(after)


def _looks(system: System) -> tuple[object, ...]:
    people = system.owner, system.loan and system.loan.user, system.reservation and system.reservation.user
    return system.inventory, system.condition, system.lab_controller, people, system.access_policy
