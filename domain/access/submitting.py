"""The right to submit to a system, and the maximum effective priority there (design 5.2)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from domain.access.policy import SUBMIT, Policy, PolicyEntry, own_policy, sort_key
from domain.priority import Priority


class Who(NamedTuple):
    """The submitter of a recipe: the owner of its job, and the group of the job.

    Either is None if there is none, or if no policy in question names it.
    """

    user: str | None
    group: str | None


class Submitting(NamedTuple):
    """The right to submit to one system; systems with equal values serve the same recipes in the same order.

    `entries` are the submit entries that apply there. The owner and the borrower may submit without one, as
    in Beaker. A system on loan serves its borrower alone.
    """

    entries: Policy
    owner: str | None
    borrower: str | None = None

    def maximum(self, who: Who) -> Priority | None:
        """Return the maximum effective priority, without regard to a loan; None: not allowed."""
        named = [entry.maximum for entry in self.entries if _names(entry, who) and entry.maximum]
        if named:
            return max(named)
        is_theirs = who.user is not None and who.user in (self.owner, self.borrower)
        return Priority.Urgent if is_theirs else None

    def is_lent_away(self, who: Who) -> bool:
        """Return whether another user has borrowed the system."""
        return self.borrower is not None and self.borrower != who.user


def submitting(
    own: Policy | None, pools: Iterable[Policy], owner: str | None, borrower: str | None = None
) -> Submitting:
    """Return the union over the pools of a system, or its own policy if no pool has a submit entry.

    `own` is None if the system never got one. Owner and borrower are left out if the entries already cover
    them.
    """
    of_pools = {entry for policy in pools for entry in policy if entry.permission == SUBMIT}
    counting = of_pools or {entry for entry in own_policy(own) if entry.permission == SUBMIT}
    entries = tuple(sorted(counting, key=sort_key))
    open_to_all = any(_is_everybody(entry) for entry in entries)
    return Submitting(entries, None if open_to_all else owner, borrower)


def _names(entry: PolicyEntry, who: Who) -> bool:
    if entry.user is not None:
        return entry.user == who.user
    return entry.group is None or entry.group == who.group


def _is_everybody(entry: PolicyEntry) -> bool:
    return entry.user is None and entry.group is None
