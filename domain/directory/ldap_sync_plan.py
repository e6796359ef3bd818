"""The difference between LDAP and the directory: new people, people who left, and memberships."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

from domain.directory.admins import require_admin_left
from domain.directory.external_groups import GroupMap, groups_of, missing_groups
from domain.directory.ldap_people import LdapPeople, twins, with_user_names
from domain.directory.ldap_sync_events import MembershipChange, has_admin, has_left, is_managed
from domain.directory.partition_queues import named_people
from domain.directory.roles import ADMIN
from domain.directory.state import Directory
from domain.errors import Refused

MIN_REMOVED: Final = 5
"""A sync may always take rights from this number of people."""


@dataclass(frozen=True)
class SyncPlan:
    """The difference between LDAP and the directory.

    `registered`: new users, each in a mapped group. `found`: users that LDAP has now. `left`: users that it
    no longer has. `kept`: admins who left LDAP, but without whom no admin could log in. `refused`: people
    without a user here, or with a blocked one: an invalid name, the name of a removed user, a name that
    equals another but for case, or a name in a queue or placement rule. `missing_groups`: groups of the table
    that do not exist here. `absent_groups`: groups of the table that LDAP lacks or shows without members;
    their memberships stay.
    """

    registered: tuple[str, ...]
    found: tuple[str, ...]
    left: tuple[str, ...]
    kept: tuple[str, ...]
    refused: tuple[str, ...]
    memberships: tuple[MembershipChange, ...]
    missing_groups: tuple[str, ...]
    absent_groups: tuple[str, ...]
    managed_count: int

    @property
    def has_changes(self) -> bool:
        return bool(self.registered or self.found or self.left or self.memberships)

    @property
    def losing(self) -> frozenset[str]:
        """The people who lose rights."""
        return frozenset(self.left).union(*(change.removed for change in self.memberships))


def plan_sync(
    directory: Directory, people: LdapPeople, group_map: GroupMap, *, force: bool = False
) -> SyncPlan:
    """Return what a sync changes. People who are not in LDAP, and never were, do not change.

    Without `force` no group is emptied because LDAP shows no members: an access rule may hide them.
    """
    entries = dict(directory.items("user"))
    people = with_user_names(people, entries)
    managed = {name for name in entries if is_managed(directory, name)}
    found = (people.users - managed).intersection(entries)
    wanted = _wanted_members(directory, people.members, group_map)
    unsure = frozenset() if force else _emptied(directory, people, group_map, wanted, managed | found)
    wanted = {group: members for group, members in wanted.items() if group not in unsure}
    new = frozenset().union(*wanted.values()).difference(entries)
    folded = frozenset(name.casefold() for name in entries)
    same, named = twins(new), named_people(directory, "user")
    refused = {
        name
        for name in sorted(new)
        # An admin has removed the user of this name on purpose.
        if directory.version(f"user/{name}")
        or name in named
        # The same person, with rights that LDAP would never end.
        or name.casefold() in folded
        or name in same
    }
    # The configuration of a partition would give rights again.
    unwelcome = frozenset(name for name in found & named if has_left(directory, name))
    found, refused = found - unwelcome, refused | unwelcome
    left, kept = _leaving(directory, managed - people.users)
    changes = (
        _membership_change(directory, group, members - refused, managed | found)
        for group, members in sorted(wanted.items())
    )
    return SyncPlan(
        registered=tuple(sorted(new - refused)),
        found=tuple(sorted(found)),
        left=left,
        kept=kept,
        refused=tuple(sorted(refused | people.invalid)),
        memberships=tuple(change for change in changes if change.added or change.removed),
        missing_groups=missing_groups(directory, group_map),
        absent_groups=tuple(
            name
            for name, groups in sorted(group_map.items())
            if name not in people.members or (name in people.hollow and not unsure.isdisjoint(groups))
        ),
        managed_count=len(managed | found),
    )


def require_few(plan: SyncPlan, max_percent: int) -> None:
    """Raise Refused if a sync takes rights from more than MIN_REMOVED people and a share of all of LDAP."""
    count, limit = len(plan.losing), max(MIN_REMOVED, plan.managed_count * max_percent // 100)
    if count > limit:
        raise Refused(
            f"{count} of {plan.managed_count} people would lose rights, more than {limit}; if that is right, "
            "run labledger ldap sync --force"
        )


def _emptied(
    directory: Directory,
    people: LdapPeople,
    group_map: GroupMap,
    wanted: Mapping[str, frozenset[str]],
    managed: Collection[str],
) -> frozenset[str]:
    """Return the groups that hollow groups alone map to, and that would lose people who are in LDAP."""
    filled = {group for name, groups in group_map.items() if name not in people.hollow for group in groups}
    staying = people.users.intersection(managed)
    return frozenset(
        group
        for group, members in wanted.items()
        if group not in filled and _membership_change(directory, group, members, staying).removed
    )


def _wanted_members(
    directory: Directory, members_of: Mapping[str, frozenset[str]], group_map: GroupMap
) -> dict[str, frozenset[str]]:
    """Return the members from LDAP of each group of the table that exists, without groups absent from LDAP.

    A group that several groups of LDAP map to has the members of all; if one of them is absent, none changes.
    """
    sources: dict[str, list[str]] = {group: [] for group in groups_of(group_map)}
    for external, groups in group_map.items():
        for group in groups:
            sources[group].append(external)
    return {
        group: frozenset().union(*(members_of[external] for external in externals))
        for group, externals in sources.items()
        if directory.get("group", group) is not None and all(external in members_of for external in externals)
    }


def _membership_change(
    directory: Directory, group: str, wanted: frozenset[str], managed: Collection[str]
) -> MembershipChange:
    entry = directory.get("group", group)
    present = frozenset() if entry is None else frozenset(entry.document["members"])
    # People whom LDAP never had were added by hand.
    removed = (present - wanted).intersection(managed)
    return MembershipChange(group, tuple(sorted(wanted - present)), tuple(sorted(removed)))


def _leaving(directory: Directory, gone: Collection[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the people who leave, and the admins among the `gone` without whom no admin could log in."""
    try:
        if has_admin(directory, gone):
            require_admin_left(directory, without_users=gone)
    except Refused:
        admins = {name for name in sorted(gone) if ADMIN in directory.roles_of(name)}
        return tuple(sorted(set(gone) - admins)), tuple(sorted(admins))
    return tuple(sorted(gone)), ()
