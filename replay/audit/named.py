"""Users and groups that some policy, owner or loan names; all others are equivalent."""

from __future__ import annotations

from collections import Counter

from replay.audit.rights import Rights, Who


class Named:
    """Counts the users and groups that the rights in force name. Mutable."""

    def __init__(self) -> None:
        # Rights -> number of systems with them; user or group -> number of rights that name it.
        self._in_force = Counter[Rights]()
        self._named = Counter[Who]()

    def change(self, before: Rights | None, now: Rights | None) -> bool:
        """Replace the rights of a system, and return whether the set of named users and groups changed."""
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
        """Return a submitter without the user or group that no rights name."""
        user = who.user if Who(who.user, None) in self._named else None
        return Who(user, who.group if Who(None, who.group) in self._named else None)
