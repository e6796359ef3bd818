"""Updates of the access class and visibility of systems after changes of policies, owners and loans."""

from __future__ import annotations

from functools import lru_cache

from domain.access.policy import Policy, policy_of
from domain.access.submit_rights import Submitter, submit_rights
from domain.directory.state import Directory
from domain.recipe.state import Recipe
from domain.scheduling.supply.labs import Labs
from domain.scheduling.supply.visible import Visible
from domain.system.state import System

# There are many systems, but few policies.
_submit_rights = lru_cache(4096)(submit_rights)


class AccessUpdates:
    """Updates of the access index. Mutable: it caches the policies of pools."""

    def __init__(self, directory: Directory, labs: Labs, visible: Visible) -> None:
        self._directory = directory
        self._visible = visible
        self._labs = labs
        self._policies: dict[str, Policy] = {}

    def update_system(self, system: System) -> None:
        """Update the access class and visibility of a system from its policy, pools, owner and loan."""
        policies = tuple(map(self._policy_of, self._directory.pools_of(system.fqdn)))
        borrower = system.loan and system.loan.user
        rights = _submit_rights(system.access_policy, policies, system.owner, borrower)
        self._labs.access.put(self._labs.number(system.fqdn), rights)
        self._visible.put(system)

    def pool_changed(self, pool: str) -> tuple[str, ...]:
        """Invalidate the policy of a pool, and return its systems, which the caller must update."""
        self._policies.pop(pool, None)
        return self._directory.systems_of(pool)

    def submitter_of(self, recipe: Recipe) -> Submitter:
        return self.submitter(recipe.owner, recipe.group)

    def submitter(self, owner: str, group: str | None) -> Submitter:
        """Return the submitter of a job, without the group if the job no longer counts for the group."""
        if group is not None and not self._directory.counts_for_group(group, owner):
            group = None
        return self._labs.access.submitter(owner, group)

    def _policy_of(self, pool: str) -> Policy:
        policy = self._policies.get(pool)
        if policy is None:
            entry = self._directory.get("pool", pool)
            entries = None if entry is None else entry.document.get("access_policy")
            policy = self._policies[pool] = policy_of(entries or ())
        return policy
