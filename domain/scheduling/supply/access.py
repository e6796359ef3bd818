"""The access index: access and maximum priorities for all systems at once (design 5.1, 5.2).

Systems with equal `SubmitRights` form one access class; there are few classes. Results for a `Submitter` are
cached until the class of any system changes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

from domain.access.submit_rights import SubmitRights, Submitter
from domain.scheduling.bitsets.bitmaps import union

NOT_ALLOWED: Final = 0
"""The maximum effective priority on systems to which a submitter may not submit."""


class AccessIndex:
    """Access classes and their systems. Mutable; `version` grows with every change."""

    def __init__(self) -> None:
        self.version = 0
        self._systems: dict[SubmitRights, int] = {}
        self._of: dict[int, SubmitRights] = {}
        self._maxima: dict[SubmitRights, dict[Submitter, int]] = {}
        # The number of classes that name each user or group, and the names that were added or dropped.
        self._named: Counter[tuple[str, str]] = Counter()
        self._name_changes: dict[tuple[str, str], None] = {}
        self._entitled: dict[Submitter, int] = {}
        self._not_lent: dict[Submitter, int] = {}
        self._allowed: dict[Submitter, int] = {}
        self._caps: dict[Submitter, frozenset[int]] = {}

    def put(self, number: int, rights: SubmitRights) -> bool:
        """Set the access class of a system; return whether it changed."""
        before, bit = self._of.get(number), 1 << number
        if before == rights:
            return False
        self._of[number] = rights
        if rights not in self._systems:
            self._begin(rights)
        self._systems[rights] |= bit
        if before is not None:
            self._systems[before] &= ~bit
            if not self._systems[before]:
                self._end(before)
        self.version += 1
        for kept in (self._entitled, self._not_lent, self._allowed):
            kept.clear()
        self._caps.clear()
        return True

    def _begin(self, rights: SubmitRights) -> None:
        self._systems[rights] = 0
        self._maxima[rights] = {}
        for name in _names(rights):
            self._named[name] += 1
            if self._named[name] == 1:
                self._name_changes[name] = None

    def _end(self, rights: SubmitRights) -> None:
        del self._systems[rights], self._maxima[rights]
        for name in _names(rights):
            self._named[name] -= 1
            if not self._named[name]:
                del self._named[name]
                self._name_changes[name] = None
                self._invalidate_maxima(name)

    def _invalidate_maxima(self, name: tuple[str, str]) -> None:
        """Drop the cached maxima of a user or group that no access class names any more."""
        kind, value = name
        for maxima in self._maxima.values():
            for submitter in [each for each in maxima if getattr(each, kind) == value]:
                del maxima[submitter]

    # Users and groups

    def submitter(self, user: str, group: str | None) -> Submitter:
        """Return the submitter, with None for a user or group that no access class names."""
        is_named, has_name = ("user", user) in self._named, ("group", group) in self._named
        return Submitter(user if is_named else None, group if has_name else None)

    def names_group(self, group: str) -> bool:
        return ("group", group) in self._named

    def name_changes(self) -> dict[tuple[str, str], None]:
        """Return the (kind, name) pairs that classes have begun or ceased to name since the last call."""
        changes, self._name_changes = self._name_changes, {}
        return changes

    # Queries

    def of(self, number: int) -> SubmitRights:
        return self._of[number]

    def each(self) -> Iterable[tuple[SubmitRights, int]]:
        """Return every access class with the bitmap of its systems."""
        return self._systems.items()

    def maximum(self, rights: SubmitRights, submitter: Submitter) -> int:
        """Return the maximum effective priority on a class, loans ignored; `NOT_ALLOWED` without access."""
        maxima = self._maxima[rights]
        if submitter not in maxima:
            maxima[submitter] = rights.maximum(submitter) or NOT_ALLOWED
        return maxima[submitter]

    def cap(self, rights: SubmitRights, submitter: Submitter) -> int:
        """Return the maximum effective priority on a class; `NOT_ALLOWED` if it is lent to another user."""
        return NOT_ALLOWED if rights.is_lent_away(submitter) else self.maximum(rights, submitter)

    def caps(self, submitter: Submitter) -> frozenset[int]:
        """Return the distinct maximum effective priorities over all classes (`cap`)."""
        if submitter not in self._caps:
            self._caps[submitter] = frozenset(self.cap(rights, submitter) for rights in self._systems)
        return self._caps[submitter]

    def entitled(self, submitter: Submitter) -> int:
        """Return the systems to which a submitter may submit, loans ignored."""
        if submitter not in self._entitled:
            classes = self._systems.items()
            found = (systems for rights, systems in classes if self.maximum(rights, submitter))
            self._entitled[submitter] = union(found)
        return self._entitled[submitter]

    def not_lent_away(self, submitter: Submitter) -> int:
        if submitter not in self._not_lent:
            classes = self._systems.items()
            self._not_lent[submitter] = union(
                systems for rights, systems in classes if not rights.is_lent_away(submitter)
            )
        return self._not_lent[submitter]

    def allowed(self, submitter: Submitter) -> int:
        """Return the systems that access and loans open to a submitter."""
        systems = self._allowed.get(submitter)
        if systems is None:
            systems = self._allowed[submitter] = self.entitled(submitter) & self.not_lent_away(submitter)
        return systems


def _names(rights: SubmitRights) -> Iterator[tuple[str, str]]:
    users = {entry.user: None for entry in rights.entries}
    users |= {rights.owner: None, rights.borrower: None}
    yield from (("user", user) for user in users if user is not None)
    groups = {entry.group: None for entry in rights.entries}
    yield from (("group", group) for group in groups if group is not None)
