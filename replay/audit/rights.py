"""Who may have a system for a recipe, and how urgent at most (design 5.2): policies, owners and loans."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from replay.audit.tables import URGENCY


class Who(NamedTuple):
    """The owner of a job and the group it was submitted on behalf of; None where there is none, or where
    it is all one who it is.
    """

    user: str | None
    group: str | None

    def __str__(self) -> str:
        return f"{self.user}" if self.group is None else f"{self.user} for {self.group}"


ANYBODY = Who(None, None)


class Entry(NamedTuple):
    """Of the permission to submit, for a user, a group or, where both are None, Everybody."""

    user: str | None
    group: str | None
    urgency: int

    def names(self, who: Who) -> bool:
        if self.user is not None:
            return self.user == who.user
        return self.group is None or self.group == who.group


Entries = frozenset[Entry]

URGENT = 0
# Of a system that was never given a policy.
OPEN_TO_ALL: Entries = frozenset({Entry(None, None, URGENT)})


def submitters(entries: Iterable[Mapping[str, Any]]) -> Entries:
    """What a policy, as events have it, says of submitting; Urgent where it names no priority."""
    return frozenset(
        Entry(form.get("user"), form.get("group"), URGENCY[form.get("maximum_effective_priority", "Urgent")])
        for form in entries
        if form["permission"] == "submit"
    )


@dataclass(frozen=True, eq=False)
class Rights:
    """On one system: the entries that count there, its owner, and who has borrowed it.

    Those of one world that are equal are one, so that what was found out of somebody is found out once.
    """

    entries: Entries
    owner: str | None
    borrower: str | None
    _urgencies: dict[Who, int | None] = field(default_factory=dict, repr=False)

    def most(self, who: Who) -> int | None:
        """The most urgent that it may be there (0 is Urgent); None: it may not be there at all.

        Whoever has borrowed it is not asked here.
        """
        if who not in self._urgencies:
            self._urgencies[who] = self._most(who)
        return self._urgencies[who]

    def _most(self, who: Who) -> int | None:
        named = [entry.urgency for entry in self.entries if entry.names(who)]
        if named:
            return min(named)
        return URGENT if who.user is not None and who.user in (self.owner, self.borrower) else None

    def is_lent_away(self, who: Who) -> bool:
        return self.borrower is not None and self.borrower != who.user

    def named(self) -> Iterator[Who]:
        """The users and groups, one at a time, of whom it matters that it is they."""
        for user in (self.owner, self.borrower, *(entry.user for entry in self.entries)):
            if user is not None:
                yield Who(user, None)
        for entry in self.entries:
            if entry.group is not None:
                yield Who(None, entry.group)


OPEN = Rights(OPEN_TO_ALL, None, None)


Key = tuple[Entries, str | None, str | None]


class AllRights:
    """Of one world, each once."""

    def __init__(self) -> None:
        self._known: dict[Key, Rights] = {(OPEN_TO_ALL, None, None): OPEN}

    def of(self, own: Entries | None, pools: Iterable[Entries], owner: str, borrower: str | None) -> Rights:
        """Of all its pools together; its own policy (None: never given one) only if no pool has an entry."""
        entries = frozenset[Entry]().union(*pools) or (OPEN_TO_ALL if own is None else own)
        # Where everybody may, it is all one who owns it.
        named = None if any(entry.user is None and entry.group is None for entry in entries) else owner
        key = entries, named, borrower
        if key not in self._known:
            self._known[key] = Rights(*key)
        return self._known[key]
