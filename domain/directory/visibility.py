"""An index of the systems hidden from a user, for reads; changes of systems load their state from the log."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain
from typing import Final, NamedTuple

from domain.access.people import Person, is_open_to_all, may, may_submit
from domain.access.policy import VIEW, Policy
from domain.access.submit_rights import submit_rights
from domain.access.validation import mentions
from domain.directory import events as directory_events
from domain.directory.name_index import NameIndex
from domain.directory.state import Directory
from domain.directory.system_access import UserGroups, access_to, counting_policy, policy_of_pool
from domain.events import Event, Moment, Recorded, split_subject
from domain.system import events as system_events
from domain.system.state import System, evolve

FOLDED_EVENTS: Final[tuple[type[Event], ...]] = (
    system_events.SystemRegistered,
    system_events.SystemOwnerChanged,
    system_events.SystemLabControllerChanged,
    system_events.SystemReservationBegun,
    system_events.SystemReservationEnded,
    system_events.SystemAccessPolicyChanged,
    system_events.SystemLoaned,
    system_events.SystemLoanEnded,
)
"""The events of systems that affect access."""

_OF_POOLS = (
    directory_events.PoolRegistered,
    directory_events.PoolAccessPolicyChanged,
    directory_events.PoolRemoved,
)
_OF_PEOPLE = (
    *(directory_events.UserRegistered, directory_events.UserRemoved),
    *(directory_events.GroupRegistered, directory_events.GroupRemoved),
    # The right to submit to a system depends on its pools.
    *(directory_events.PoolSystemAdded, directory_events.PoolSystemRemoved),
)
# The maximum number of entries per cache; at this number the caches are cleared.
MAX_CACHED: Final = 1_000


class SystemNames(NamedTuple):
    """The names in the inventory of a system that jobs may use."""

    keys: frozenset[str] = frozenset()
    arches: frozenset[str] = frozenset()
    power_types: frozenset[str] = frozenset()


class VisibilityIndex:
    """Mutable: `apply` the events of the log in order, each after the directory; then query.

    The index holds systems without inventory, without usage, and with their condition at registration.
    """

    def __init__(self, directory: Directory) -> None:
        self._directory = directory
        self._systems: dict[str, System] = {}
        # The policies of systems that not everybody may view; usually there are none.
        self._restricted: dict[str, Policy] = {}
        self._by_active_pool: dict[str, dict[str, None]] = {}
        # Caches by user and lab controller.
        self._hidden_from: dict[tuple[str, str | None], frozenset[str]] = {}
        self._unknown_to: dict[tuple[str, str | None], frozenset[str]] = {}
        # The names of each system. Systems with equal names share one object.
        self._names: dict[str, SystemNames] = {}
        self._shared_names: dict[SystemNames, SystemNames] = {}
        # The names of all systems except the unknown ones in the key.
        self._names_without: dict[frozenset[str], SystemNames] = {}
        self._shared_sets: dict[frozenset[str], frozenset[str]] = {}

    def apply(self, recorded: Recorded) -> None:
        event = recorded.event
        name = split_subject(recorded.subject)[1]
        if isinstance(event, system_events.SystemRegistered | system_events.SystemInventoryChanged):
            self._put_names(name, event)
        if isinstance(event, FOLDED_EVENTS):
            self._change(name, recorded)
        elif isinstance(event, _OF_POOLS):
            for fqdn in self._by_active_pool.get(name, ()):
                self._update_restricted(self._systems[fqdn])
        elif not isinstance(event, _OF_PEOPLE):
            return
        self._clear_caches()

    def _change(self, fqdn: str, recorded: Recorded) -> None:
        before, event = self._systems.get(fqdn), recorded.event
        if isinstance(event, system_events.SystemRegistered):
            event = replace(event, inventory={})
        system = self._systems[fqdn] = evolve(before, fqdn, event, Moment.of(recorded))
        was = None if before is None else before.active_pool
        if was != system.active_pool:
            if was is not None:
                del self._by_active_pool[was][fqdn]
            if system.active_pool is not None:
                self._by_active_pool.setdefault(system.active_pool, {})[fqdn] = None
        self._update_restricted(system)

    def _update_restricted(self, system: System) -> None:
        policy = counting_policy(self._directory, system)
        if is_open_to_all(policy):
            self._restricted.pop(system.fqdn, None)
        else:
            self._restricted[system.fqdn] = policy

    def hidden_from(self, user: str, lab_controller: str | None = None) -> frozenset[str]:
        """Return the systems outside this lab that a user may not view, as if the user were no admin."""
        if not self._restricted:
            return frozenset()
        key = user, lab_controller
        hidden = self._hidden_from.get(key)
        if hidden is None:
            if len(self._hidden_from) >= MAX_CACHED:
                self._clear_caches()
            hidden = frozenset(self._hidden(user, lab_controller))
            # Most users have equal sets, which may have thousands of names, so they share one object.
            hidden = self._hidden_from[key] = self._shared_sets.setdefault(hidden, hidden)
        return hidden

    def unknown_to(self, user: str, lab_controller: str | None = None) -> frozenset[str]:
        """Return the hidden systems to which the user may not submit either."""
        hidden = self.hidden_from(user, lab_controller)
        if not hidden:
            return hidden
        key = user, lab_controller
        unknown = self._unknown_to.get(key)
        if unknown is None:
            person = Person(user, UserGroups(self._directory, user))
            unknown = frozenset(fqdn for fqdn in sorted(hidden) if not self._may_submit(person, fqdn))
            unknown = self._unknown_to[key] = self._shared_sets.setdefault(unknown, unknown)
        return unknown

    def _may_submit(self, person: Person, fqdn: str) -> bool:
        of_pools = (policy_of_pool(self._directory, pool) for pool in self._directory.pools_of(fqdn))
        pools = [policy for policy in of_pools if policy is not None]
        system = self._systems[fqdn]
        return may_submit(person, submit_rights(system.access_policy, pools, system.owner).entries)

    def names_without(self, unknown: frozenset[str], names: NameIndex) -> NameIndex:
        """Return `names` without those that only the `unknown` systems have."""
        visible = self._names_without.get(unknown)
        if visible is None:
            if len(self._names_without) >= MAX_CACHED:
                self._names_without.clear()
            distinct = dict.fromkeys(own for fqdn, own in self._names.items() if fqdn not in unknown)
            visible = self._names_without[unknown] = _union(distinct)
        arches = visible.arches | {document["arch"] for _, document in self._directory.trees()}
        return replace(
            names,
            systems=names.systems - unknown,
            keys=names.keys & visible.keys,
            arches=names.arches & arches,
            power_types=names.power_types & visible.power_types,
        )

    def _put_names(
        self, fqdn: str, event: system_events.SystemRegistered | system_events.SystemInventoryChanged
    ) -> None:
        inventory = event.inventory
        power_type = inventory.get("power_type")
        names = SystemNames(
            frozenset(inventory.get("key_values") or ()),
            frozenset(inventory.get("arches") or ()),
            frozenset([power_type] if power_type else ()),
        )
        self._names[fqdn] = self._shared_names.setdefault(names, names)
        self._names_without.clear()

    def _clear_caches(self) -> None:
        self._hidden_from.clear()
        self._unknown_to.clear()
        self._shared_sets.clear()

    def _hidden(self, user: str, lab_controller: str | None) -> Iterator[str]:
        person = Person(user, UserGroups(self._directory, user))
        for fqdn, policy in self._restricted.items():
            system = self._systems[fqdn]
            of_lab = lab_controller is not None and system.lab_controller == lab_controller
            if not of_lab and not may(person, access_to(self._directory, system, policy), VIEW):
                yield fqdn

    def referring_systems(self, kind: str, name: str) -> list[str]:
        """Return the systems that refer to a user, group or pool, other than as the owner."""
        if kind == "pool":
            return list(self._by_active_pool.get(name, ()))
        return [fqdn for fqdn, system in self._systems.items() if refers_to(system, kind, name)]

    def systems_naming(self, users: frozenset[str]) -> list[str]:
        """Return the systems that refer to any of the users, other than as the owner, in one pass."""
        return [fqdn for fqdn, system in self._systems.items() if not users.isdisjoint(_users_of(system))]


def _users_of(system: System) -> Iterator[str | None]:
    """Yield the users in the loan, reservation and own policy of a system, None for other entries."""
    for held in (system.loan, system.reservation):
        if held is not None:
            yield held.user
    for entry in system.access_policy or ():
        yield entry.user


def _union(names: Iterable[SystemNames]) -> SystemNames:
    kinds = zip(*names, strict=True)
    return SystemNames(*(frozenset(chain.from_iterable(kind)) for kind in kinds))


def refers_to(system: System, kind: str, name: str) -> bool:
    """Return whether a user has the system on loan or reserved, or its own policy names the user or group."""
    if kind == "user" and any(
        held is not None and held.user == name for held in (system.loan, system.reservation)
    ):
        return True
    own: Policy = system.access_policy or ()
    return mentions(own, kind, name)
