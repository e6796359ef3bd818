"""Users and groups named by policies, ownerships or loans. All others have equal rights everywhere."""

from __future__ import annotations

from collections import Counter

from replay.audit.rights import Rights, Submitter


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
