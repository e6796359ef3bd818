"""The changes after which the directory agrees with LDAP: new people, people who left, and memberships."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from domain.directory import events as directory_events
from domain.directory.admins import require_admin_left
from domain.directory.documents import Document
from domain.directory.external_groups import GroupMap, groups_of, missing_groups, with_members
from domain.directory.ldap_people import LdapPeople, twins, with_user_names
from domain.directory.partition_queues import named_people
from domain.directory.removal import remove_references
from domain.directory.roles import ADMIN, SUBMITTER
from domain.directory.state import Directory
from domain.directory.tokens import revoked
from domain.errors import LabledgerError, Refused
from domain.events import Decided

PRESENT, LEFT = "present", "left"
"""Values of `ldap` in the document of a user: in LDAP at the last sync, or no longer."""
MIN_REMOVED: Final = 5
"""A sync may always take rights from this number of people."""
LEFT_LDAP: Final = "is no longer in LDAP"


class MembershipChange(NamedTuple):
    """The users that join and leave a group."""

    group: str
    added: tuple[str, ...]
    removed: tuple[str, ...]


@dataclass(frozen=True)
class SyncPlan:
    """The difference between LDAP and the directory.

    `registered` are new users, who are in a mapped group, `found` users that LDAP has now, and `left` those
    that it has no longer. `kept` would have left, but no other admin can log in. `refused` cannot be
    registered: their names are invalid, those of removed users, or those of several users or new people but
    for upper and lower case. They also are users who cannot come back, because queues or placement rules name
    them. `missing_groups` of the table do not exist here, `absent_groups` not in LDAP, or they have no
    members there, although they have some here: their memberships stay.
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


def is_managed(document: Document) -> bool:
    """Return whether LDAP had the user at the last sync, by the document of the user."""
    return document.get("ldap") == PRESENT


def plan_sync(
    directory: Directory, people: LdapPeople, group_map: GroupMap, *, force: bool = False
) -> SyncPlan:
    """Return what a sync changes. People who are not in LDAP, and never were, do not change.

    Without `force` no group is emptied because LDAP shows no members: an access rule may hide them.
    """
    entries = dict(directory.items("user"))
    people = with_user_names(people, entries)
    managed = {name for name, user in entries.items() if is_managed(user.document)}
    found = (people.users - managed).intersection(entries)
    unsure = frozenset() if force else _emptied(directory, people, group_map, managed | found)
    members_of = {name: members for name, members in people.members.items() if name not in unsure}
    wanted = _wanted_members(directory, members_of, group_map)
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
        absent_groups=tuple(sorted(name for name in group_map if name not in members_of)),
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


def leave(directory: Directory, names: Collection[str]) -> tuple[Decided, tuple[str, ...]]:
    """Return the events for people who have left LDAP, and the subjects on which the decision depends.

    They lose roles, tokens and password, and are removed from all groups and from the policies of pools.
    Raises Refused if no admin would be left.
    """
    token_ids = [token_id for name in names for token_id, _ in directory.tokens_of(name)]
    admins = require_admin_left(directory, without_users=names) if _has_admin(directory, names) else ()
    left = [(f"user/{name}", directory_events.UserLeftLdap(reason=LEFT_LDAP)) for name in names]
    return [*remove_references(directory, "user", *names), *revoked(token_ids, LEFT_LDAP), *left], admins


def has_left(directory: Directory, user: str) -> bool:
    """Return whether a user has left LDAP, and has not got a role since."""
    entry = directory.get("user", user)
    return entry is not None and entry.document.get("ldap") == LEFT and not entry.document["roles"]


def find(directory: Directory, names: Iterable[str]) -> Decided:
    """Return the events for users that LDAP has now. A user who comes back is a submitter again.

    A user does not come back while queues or placement rules of a partition name this user: they have rights
    of former times. A user without roles whom LDAP never had keeps none: an admin has blocked the user.
    """
    decided: Decided = []
    named = named_people(directory, "user")
    for name in names:
        entry = directory.get("user", name)
        if entry is None or is_managed(entry.document):
            continue
        if has_left(directory, name):
            if name in named:
                continue
            back = directory_events.UserChanged(roles=[SUBMITTER], email=entry.document["email"])
            decided.append((f"user/{name}", back))
        decided.append((f"user/{name}", directory_events.UserFoundInLdap()))
    return decided


def register(directory: Directory, names: Collection[str]) -> Decided:
    """Return the events that register people, but no user whom an admin has removed."""
    decided: Decided = []
    for name in names:
        if directory.version(f"user/{name}"):
            continue
        decided.append((f"user/{name}", directory_events.UserRegistered(roles=[SUBMITTER])))
        decided.append((f"user/{name}", directory_events.UserFoundInLdap()))
    return decided


def join(directory: Directory, changes: Iterable[MembershipChange]) -> Decided:
    """Return the events of memberships; owners stay. Users and groups that are gone do not change."""
    decided: Decided = []
    for change in changes:
        entry = directory.get("group", change.group)
        if entry is None:
            continue
        before = entry.document["members"]
        added = [name for name in change.added if name not in before and directory.get("user", name)]
        event = with_members(entry.document, added, change.removed)
        if event.members != list(before):
            decided.append((f"group/{change.group}", event))
    return decided


def _emptied(
    directory: Directory, people: LdapPeople, group_map: GroupMap, managed: Collection[str]
) -> frozenset[str]:
    """Return the hollow groups of LDAP that would take memberships from people in LDAP."""
    wanted = _wanted_members(directory, people.members, group_map)
    staying = people.users.intersection(managed)
    losing = {
        group
        for group, members in wanted.items()
        if _membership_change(directory, group, members, staying).removed
    }
    return frozenset(name for name in people.hollow if not losing.isdisjoint(group_map.get(name, ())))


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
        if _has_admin(directory, gone):
            require_admin_left(directory, without_users=gone)
    except Refused:
        admins = {name for name in sorted(gone) if ADMIN in directory.roles_of(name)}
        return tuple(sorted(set(gone) - admins)), tuple(sorted(admins))
    return tuple(sorted(gone)), ()


def _has_admin(directory: Directory, names: Iterable[str]) -> bool:
    return any(ADMIN in directory.roles_of(name) for name in names)


class LdapFault(LabledgerError):
    """LDAP cannot be read."""
