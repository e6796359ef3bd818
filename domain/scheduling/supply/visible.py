"""Systems hidden from a job's owner, which reasons neither count nor name (docs/decisions/0020)."""

from __future__ import annotations

from typing import Final

from domain.access.people import Person, is_open_to_all, may, may_submit
from domain.access.policy import VIEW, Policy
from domain.directory.roles import SEES_ALL
from domain.directory.state import Directory
from domain.directory.system_access import UserGroups, access_to, counting_policy
from domain.requirements.operators import fold
from domain.requirements.records import held_in
from domain.scheduling.bitsets.bitmaps import union
from domain.scheduling.supply.labs import Labs
from domain.system.state import System

MAX_CACHED: Final = 1_000
# The kinds of names that systems define, with the columns of these names.
_COLUMNS: Final = {"systems": "fqdn", "arches": "arches", "power_types": "power_type"}


class Visible:
    """Mutable: `put` each changed system, and call `invalidate` after changes of users, groups and pools."""

    def __init__(self, directory: Directory, labs: Labs) -> None:
        self._directory = directory
        self._labs = labs
        # Systems that not everybody may view, with the policy that applies; mostly there are none.
        self._restricted: dict[str, tuple[System, Policy]] = {}
        self._hidden: dict[str, int] = {}

    def put(self, system: System) -> None:
        policy = counting_policy(self._directory, system)
        if is_open_to_all(policy):
            if self._restricted.pop(system.fqdn, None) is None:
                return
        else:
            self._restricted[system.fqdn] = system, policy
        self.invalidate()

    def invalidate(self) -> None:
        self._hidden.clear()

    def hidden_from(self, owner: str) -> int:
        """Return the bitmap of the systems that a user may neither view nor submit to."""
        if not self._restricted:
            return 0
        hidden = self._hidden.get(owner)
        if hidden is None:
            if len(self._hidden) >= MAX_CACHED:
                self.invalidate()
            hidden = self._hidden[owner] = self._hidden_from(owner)
        return hidden

    def _hidden_from(self, owner: str) -> int:
        if not SEES_ALL.isdisjoint(self._directory.roles_of(owner)):
            return 0
        person = Person(owner, UserGroups(self._directory, owner))
        return union(
            1 << self._labs.number(fqdn)
            for fqdn, (system, policy) in self._restricted.items()
            if not self._may_know(person, system, policy)
        )

    def _may_know(self, person: Person, system: System, policy: Policy) -> bool:
        if may(person, access_to(self._directory, system, policy), VIEW):
            return True
        return may_submit(person, self._labs.access.of(self._labs.number(system.fqdn)).entries)

    def may_know(self, owner: str, kind: str, name: str) -> bool:
        """Return whether the directory, a distro tree or a system that is not hidden has a name."""
        hidden = self.hidden_from(owner)
        if not hidden:
            return True
        columns, folded = self._labs.columns, fold(name)
        if kind == "keys":
            holders = held_in(columns, "key_values")
            return any(bits & ~hidden for (key, _), bits in holders if key == folded)
        if kind not in _COLUMNS:
            return True
        if kind == "arches" and any(fold(tree["arch"]) == folded for _, tree in self._directory.trees()):
            return True
        return bool(columns[_COLUMNS[kind]].holders.get(folded, 0) & ~hidden)
