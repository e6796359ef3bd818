"""Rights to submit to a system, and the maximum effective priority there (design 5.2)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from domain.access.policy import SUBMIT, Policy, PolicyEntry, own_policy, sort_key
from domain.priority import Priority


class Submitter(NamedTuple):
    """The owner and the group of a job; a name is None if no access class names it, or without a group."""

    user: str | None
    group: str | None


class SubmitRights(NamedTuple):
    """The right to submit to one system; systems with equal rights admit and rank all submitters alike.

    `entries` are the submit entries that apply there. The owner and the borrower may submit without an entry,
    as in Beaker. A system on loan serves its borrower alone.
    """

    entries: Policy
    owner: str | None
    borrower: str | None = None

    def maximum(self, submitter: Submitter) -> Priority | None:
        """Return the maximum effective priority, None if not allowed, without regard to a loan to others."""
        maxima = [entry.maximum for entry in self.entries if _applies_to(entry, submitter) and entry.maximum]
        if maxima:
            return max(maxima)
        is_holder = submitter.user is not None and submitter.user in (self.owner, self.borrower)
        return Priority.Urgent if is_holder else None

    def is_lent_away(self, submitter: Submitter) -> bool:
        """Return whether another user has borrowed the system."""
        return self.borrower is not None and self.borrower != submitter.user


def submit_rights(
    own: Policy | None, pools: Iterable[Policy], owner: str | None, borrower: str | None = None
) -> SubmitRights:
    """Return the rights from the submit entries of all pools, or from the own policy if no pool has one.

    `own` is None if the system never got a policy. The owner is left out if everybody may submit.
    """
    pool_entries = {entry for policy in pools for entry in policy if entry.permission == SUBMIT}
    applicable = pool_entries or {entry for entry in own_policy(own) if entry.permission == SUBMIT}
    entries = tuple(sorted(applicable, key=sort_key))
    open_to_all = any(_is_everybody(entry) for entry in entries)
    return SubmitRights(entries, None if open_to_all else owner, borrower)


def _applies_to(entry: PolicyEntry, submitter: Submitter) -> bool:
    if entry.user is not None:
        return entry.user == submitter.user
    return entry.group is None or entry.group == submitter.group


def _is_everybody(entry: PolicyEntry) -> bool:
    return entry.user is None and entry.group is None
