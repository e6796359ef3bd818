"""Policies, owners and loans, told on to who answers for all systems at once: who may submit where."""

from __future__ import annotations

from functools import lru_cache

from domain.access.policy import Policy, policy_of
from domain.access.submitting import Who, submitting
from domain.directory.state import Directory
from domain.recipe.state import Recipe
from domain.scheduling.supply.labs import Labs
from domain.scheduling.supply.visible import Visible
from domain.system.state import System

# Systems are many, policies few.
_submitting = lru_cache(4096)(submitting)


class AccessUpdates:
    """Mutable: it keeps the policies of pools as they were read last."""

    def __init__(self, directory: Directory, labs: Labs, visible: Visible) -> None:
        self._directory = directory
        self._visible = visible
        self._labs = labs
        self._policies: dict[str, Policy] = {}

    def update_system(self, system: System) -> None:
        """Something that decides it may be new: its policy, its pools, its owner, who has borrowed it."""
        policies = tuple(map(self._policy_of, self._directory.pools_of(system.fqdn)))
        borrower = system.loan and system.loan.user
        decides = _submitting(system.access_policy, policies, system.owner, borrower)
        self._labs.access.put(self._labs.number(system.fqdn), decides)
        self._visible.put(system)

    def pool_changed(self, pool: str) -> tuple[str, ...]:
        """Its policy may be another one: the systems that are in it, which are to be admitted again."""
        self._policies.pop(pool, None)
        return self._directory.systems_of(pool)

    def who_of(self, recipe: Recipe) -> Who:
        return self.who(recipe.owner, recipe.group)

    def who(self, owner: str, group: str | None) -> Who:
        """The owner of a job, and its group while the job still is for that: as far as policies name them."""
        if group is not None and not self._directory.still_for(group, owner):
            group = None
        return self._labs.access.who(owner, group)

    def _policy_of(self, pool: str) -> Policy:
        known = self._policies.get(pool)
        if known is None:
            entry = self._directory.get("pool", pool)
            entries = None if entry is None else entry.document.get("access_policy")
            known = self._policies[pool] = policy_of(entries or ())
        return known
