"""Whom the rights on systems name: of all others it is all one who they are."""

from __future__ import annotations

from collections import Counter

from replay.audit.rights import Rights, Who


class Named:
    """Mutable: tell it of each system what rights it had and has."""

    def __init__(self) -> None:
        # How many systems have these rights, and how many rights name them.
        self._in_force = Counter[Rights]()
        self._named = Counter[Who]()

    def change(self, before: Rights | None, now: Rights | None) -> bool:
        """Whether somebody is named from now on, or is no more."""
        came = now is not None and self._count(now, 1)
        went = before is not None and self._count(before, -1)
        return came or went

    def _count(self, rights: Rights, change: int) -> bool:
        self._in_force[rights] += change
        if self._in_force[rights] != max(change, 0):
            return False
        named = len(self._named)
        for who in set(rights.named()):
            self._named[who] += change
            if not self._named[who]:
                del self._named[who]
        return len(self._named) != named

    def party(self, who: Who) -> Who:
        """What of it makes a difference somewhere."""
        user = who.user if Who(who.user, None) in self._named else None
        return Who(user, who.group if Who(None, who.group) in self._named else None)
