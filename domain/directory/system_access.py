"""The access of people to a system: the policy that applies, and the owner, borrower and reserving user."""

from __future__ import annotations

from domain.access.people import Access
from domain.access.policy import Policy, own_policy, policy_of
from domain.directory.state import Directory
from domain.system.state import Loan, Reservation, System


def access_to(directory: Directory, system: System, policy: Policy | None = None) -> Access:
    """Return the access to a system; a caller that has the policy that applies passes it as `policy`.

    A loan, reservation or ownership of a removed user does not count for a new user of the same name.
    """

    def present_user(claim: Loan | Reservation | None) -> str | None:
        return claim.user if claim is not None and directory.had("user", claim.user, claim.since) else None

    return Access(
        counting_policy(directory, system) if policy is None else policy,
        system.owner if directory.had("user", system.owner, system.owned_since) else None,
        present_user(system.loan),
        present_user(system.reservation),
    )


def counting_policy(directory: Directory, system: System) -> Policy:
    """Return the policy for all permissions but `submit`: that of the active pool, else the system's own."""
    pool = None if system.active_pool is None else policy_of_pool(directory, system.active_pool)
    return own_policy(system.access_policy) if pool is None else pool


def policy_of_pool(directory: Directory, pool: str) -> Policy | None:
    """Return the policy of a pool, None if there is no such pool; a pool without one grants nothing."""
    entry = directory.get("pool", pool)
    return None if entry is None else policy_of(entry.document.get("access_policy") or ())


class UserGroups:
    """The groups with a user as member. Memberships are looked up on demand: most policies name no group."""

    def __init__(self, directory: Directory, user: str) -> None:
        self._directory = directory
        self._user = user

    def __contains__(self, group: object) -> bool:
        entry = self._directory.get("group", str(group))
        return entry is not None and self._user in entry.document["members"]
