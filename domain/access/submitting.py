"""Who may have a system for a recipe, and at what priority at most (design 5.2; seed 004)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from domain.access.policy import SUBMIT, Entry, Policy, own_policy, place
from domain.priority import Priority


class Who(NamedTuple):
    """For whom a recipe runs: the owner of its job, and the group that it was submitted on behalf of.

    Either is None where there is none, or where nothing that is asked names it.
    """

    user: str | None
    group: str | None


class Submitting(NamedTuple):
    """What decides it on one system; systems with equal ones serve the same recipes in the same order.

    `entries` are those of the submit permission that count there. The owner and the borrower may submit
    without one (`notes/beaker.md`: an owner may do all, a loan lets reserve). A system on loan serves its
    borrower alone.
    """

    entries: Policy
    owner: str | None
    borrower: str | None = None

    def maximum(self, who: Who) -> Priority | None:
        """The maximum effective priority, as if nobody had borrowed it; None: not allowed."""
        named = [entry.maximum for entry in self.entries if _names(entry, who) and entry.maximum]
        if named:
            return max(named)
        is_theirs = who.user is not None and who.user in (self.owner, self.borrower)
        return Priority.Urgent if is_theirs else None

    def is_lent_away(self, who: Who) -> bool:
        """Whether somebody else has borrowed it."""
        return self.borrower is not None and self.borrower != who.user


def submitting(
    own: Policy | None, pools: Iterable[Policy], owner: str | None, borrower: str | None = None
) -> Submitting:
    """The union over the pools of a system; its own policy only if no pool has an entry to submit.

    `own` is None where it was never given one. Owner and borrower are left out where every entry that there
    is says all that is to be said of them.
    """
    of_pools = {entry for policy in pools for entry in policy if entry.permission == SUBMIT}
    counting = of_pools or {entry for entry in own_policy(own) if entry.permission == SUBMIT}
    entries = tuple(sorted(counting, key=place))
    open_to_all = any(_is_everybody(entry) for entry in entries)
    return Submitting(entries, None if open_to_all else owner, borrower)


def _names(entry: Entry, who: Who) -> bool:
    if entry.user is not None:
        return entry.user == who.user
    return entry.group is None or entry.group == who.group


def _is_everybody(entry: Entry) -> bool:
    return entry.user is None and entry.group is None
