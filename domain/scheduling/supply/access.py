"""Access and maximum priorities for all systems at once (design 5.1, 5.2).

Systems with equal `Submitting` form one access class; there are few classes. Results for a `Who` are cached
until the class of any system changes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

from domain.access.submitting import Submitting, Who
from domain.scheduling.bitsets.bitmaps import union

NOT_ALLOWED: Final = 0
"""Stands for a priority where submission is not allowed."""


class AccessIndex:
    """Access classes and their systems. Mutable; `version` grows with every change."""

    def __init__(self) -> None:
        self.version = 0
        self._systems: dict[Submitting, int] = {}
        self._of: dict[int, Submitting] = {}
        self._maxima: dict[Submitting, dict[Who, int]] = {}
        # The number of classes that name a user or group, and the names that have come or gone.
        self._named: Counter[tuple[str, str]] = Counter()
        self._name_changes: dict[tuple[str, str], None] = {}
        self._entitled: dict[Who, int] = {}
        self._not_lent: dict[Who, int] = {}
        self._may: dict[Who, int] = {}
        self._caps: dict[Who, frozenset[int]] = {}

    def put(self, number: int, decides: Submitting) -> bool:
        """Set the access class of a system; return whether it changed."""
        before, bit = self._of.get(number), 1 << number
        if before == decides:
            return False
        self._of[number] = decides
        if decides not in self._systems:
            self._begin(decides)
        self._systems[decides] |= bit
        if before is not None:
            self._systems[before] &= ~bit
            if not self._systems[before]:
                self._end(before)
        self.version += 1
        for kept in (self._entitled, self._not_lent, self._may):
            kept.clear()
        self._caps.clear()
        return True

    def _begin(self, decides: Submitting) -> None:
        self._systems[decides] = 0
        self._maxima[decides] = {}
        for name in _names(decides):
            self._named[name] += 1
            if self._named[name] == 1:
                self._name_changes[name] = None

    def _end(self, decides: Submitting) -> None:
        del self._systems[decides], self._maxima[decides]
        for name in _names(decides):
            self._named[name] -= 1
            if not self._named[name]:
                del self._named[name]
                self._name_changes[name] = None
                self._invalidate_maxima(name)

    def _invalidate_maxima(self, name: tuple[str, str]) -> None:
        """Drop the cached maxima of users whose name is in no access class any more."""
        kind, value = name
        for maxima in self._maxima.values():
            for who in [each for each in maxima if getattr(each, kind) == value]:
                del maxima[who]

    # Users and groups

    def who(self, user: str, group: str | None) -> Who:
        """Return the user and group as far as some access class distinguishes them."""
        is_named, has_name = ("user", user) in self._named, ("group", group) in self._named
        return Who(user if is_named else None, group if has_name else None)

    def names_group(self, group: str) -> bool:
        return ("group", group) in self._named

    def name_changes(self) -> dict[tuple[str, str], None]:
        """Return the users and groups that classes have begun or ceased to name since the last call."""
        changes, self._name_changes = self._name_changes, {}
        return changes

    # Queries

    def of(self, number: int) -> Submitting:
        """Return the access class of a system."""
        return self._of[number]

    def each(self) -> Iterable[tuple[Submitting, int]]:
        """Return every access class with the bitmap of its systems."""
        return self._systems.items()

    def maximum(self, decides: Submitting, who: Who) -> int:
        """Return the maximum effective priority, loans ignored; `NOT_ALLOWED` without access."""
        maxima = self._maxima[decides]
        if who not in maxima:
            maxima[who] = decides.maximum(who) or NOT_ALLOWED
        return maxima[who]

    def cap(self, decides: Submitting, who: Who) -> int:
        """Return the maximum effective priority; `NOT_ALLOWED` also while lent to somebody else."""
        return NOT_ALLOWED if decides.is_lent_away(who) else self.maximum(decides, who)

    def caps(self, who: Who) -> frozenset[int]:
        """Return the different caps over all classes."""
        if who not in self._caps:
            self._caps[who] = frozenset(self.cap(decides, who) for decides in self._systems)
        return self._caps[who]

    def entitled(self, who: Who) -> int:
        """Return the systems to which a user may submit, on loan or not."""
        if who not in self._entitled:
            classes = self._systems.items()
            found = (systems for decides, systems in classes if self.maximum(decides, who))
            self._entitled[who] = union(found)
        return self._entitled[who]

    def not_lent_away(self, who: Who) -> int:
        """Return the systems that are not on loan to somebody else."""
        if who not in self._not_lent:
            classes = self._systems.items()
            self._not_lent[who] = union(
                systems for decides, systems in classes if not decides.is_lent_away(who)
            )
        return self._not_lent[who]

    def may(self, who: Who) -> int:
        """Return the systems that recipes of a user may have."""
        systems = self._may.get(who)
        if systems is None:
            systems = self._may[who] = self.entitled(who) & self.not_lent_away(who)
        return systems


def _names(decides: Submitting) -> Iterator[tuple[str, str]]:
    """Yield the users and groups that an access class names."""
    users = {entry.user: None for entry in decides.entries}
    users |= {decides.owner: None, decides.borrower: None}
    yield from (("user", user) for user in users if user is not None)
    groups = {entry.group: None for entry in decides.entries}
    yield from (("group", group) for group in groups if group is not None)
