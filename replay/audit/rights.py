"""Submit rights on systems (design 5.2): permission and maximum priority, by policies, owners and loans."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from replay.audit.tables import URGENCY


class Submitter(NamedTuple):
    """Owner and group of a job; None if there is none, or if it makes no difference to rights."""

    user: str | None
    group: str | None

    def __str__(self) -> str:
        return f"{self.user}" if self.group is None else f"{self.user} for {self.group}"


ANY_SUBMITTER = Submitter(None, None)


class SubmitEntry(NamedTuple):
    """A submit permission for a user, a group or, if both are None, Everybody."""

    user: str | None
    group: str | None
    urgency: int

    def names(self, submitter: Submitter) -> bool:
        if self.user is not None:
            return self.user == submitter.user
        return self.group is None or self.group == submitter.group


Entries = frozenset[SubmitEntry]

URGENT = 0
# The entries of a system without a policy.
OPEN_TO_ALL: Entries = frozenset({SubmitEntry(None, None, URGENT)})


def submit_entries(entries: Iterable[Mapping[str, Any]]) -> Entries:
    """Return the submit permissions of a policy as events contain it. Without a maximum it is Urgent."""
    return frozenset(
        SubmitEntry(
            form.get("user"), form.get("group"), URGENCY[form.get("maximum_effective_priority", "Urgent")]
        )
        for form in entries
        if form["permission"] == "submit"
    )


@dataclass(frozen=True, eq=False)
class Rights:
    """The entries in force on one system, its owner and borrower; equal rights are one object in a world."""

    entries: Entries
    owner: str | None
    borrower: str | None
    _urgencies: dict[Submitter, int | None] = field(default_factory=dict, repr=False)

    def highest_priority(self, submitter: Submitter) -> int | None:
        """Return the highest effective priority (0: Urgent), loans to others aside; None if not allowed."""
        if submitter not in self._urgencies:
            self._urgencies[submitter] = self._highest_priority(submitter)
        return self._urgencies[submitter]

    def _highest_priority(self, submitter: Submitter) -> int | None:
        urgencies = [entry.urgency for entry in self.entries if entry.names(submitter)]
        if urgencies:
            return min(urgencies)
        return (
            URGENT if submitter.user is not None and submitter.user in (self.owner, self.borrower) else None
        )

    def is_lent_away(self, submitter: Submitter) -> bool:
        return self.borrower is not None and self.borrower != submitter.user

    def named_people(self) -> Iterator[Submitter]:
        for user in (self.owner, self.borrower, *(entry.user for entry in self.entries)):
            if user is not None:
                yield Submitter(user, None)
        for entry in self.entries:
            if entry.group is not None:
                yield Submitter(None, entry.group)


OPEN = Rights(OPEN_TO_ALL, None, None)


Key = tuple[Entries, str | None, str | None]


class RightsCache:
    """The rights of one world. Equal rights are the same object."""

    def __init__(self) -> None:
        self._interned: dict[Key, Rights] = {(OPEN_TO_ALL, None, None): OPEN}

    def of(self, own: Entries | None, pools: Iterable[Entries], owner: str, borrower: str | None) -> Rights:
        """Return the rights by all pools, or by the `own` policy (None: never set) without pool entries."""
        entries = frozenset[SubmitEntry]().union(*pools) or (OPEN_TO_ALL if own is None else own)
        # The owner makes no difference where every user may submit.
        named_owner = None if any(entry.user is None and entry.group is None for entry in entries) else owner
        key = entries, named_owner, borrower
        if key not in self._interned:
            self._interned[key] = Rights(*key)
        return self._interned[key]


class NamedPeople:
    """The users and groups that the rights of some system name. Mutable."""

    def __init__(self) -> None:
        # Rights -> number of systems with them; user or group -> number of rights that name it.
        self._in_force = Counter[Rights]()
        self._named = Counter[Submitter]()

    def change(self, before: Rights | None, now: Rights | None) -> bool:
        """Replace the rights of a system, and return whether the set of named users and groups changed."""
        has_grown = now is not None and self._count(now, 1)
        has_shrunk = before is not None and self._count(before, -1)
        return has_grown or has_shrunk

    def _count(self, rights: Rights, change: int) -> bool:
        self._in_force[rights] += change
        if self._in_force[rights] != max(change, 0):
            return False
        named = len(self._named)
        for submitter in set(rights.named_people()):
            self._named[submitter] += change
            if not self._named[submitter]:
                del self._named[submitter]
        return len(self._named) != named

    def representative(self, submitter: Submitter) -> Submitter:
        """Return a submitter without its user or group, if no rights name it."""
        user = submitter.user if Submitter(submitter.user, None) in self._named else None
        return Submitter(user, submitter.group if Submitter(None, submitter.group) in self._named else None)
