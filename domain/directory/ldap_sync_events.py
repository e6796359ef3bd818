"""The events after which the directory agrees with LDAP, and the state of a user in LDAP."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final, NamedTuple

from domain.directory import events as directory_events
from domain.directory.admins import require_admin_left
from domain.directory.external_groups import with_members
from domain.directory.partition_queues import named_people
from domain.directory.removal import remove_references
from domain.directory.roles import ADMIN, SUBMITTER
from domain.directory.state import Directory
from domain.directory.tokens import revoked
from domain.events import Decided

PRESENT, LEFT = "present", "left"
"""Values of `ldap` in the document of a user: in LDAP at the last sync, or no longer."""
LEFT_LDAP: Final = "is no longer in LDAP"


class MembershipChange(NamedTuple):
    """The users that join and leave a group."""

    group: str
    added: tuple[str, ...]
    removed: tuple[str, ...]


def is_managed(directory: Directory, name: str) -> bool:
    """Return whether LDAP had the user at the last sync."""
    entry = directory.get("user", name)
    return entry is not None and entry.document.get("ldap") == PRESENT


def has_left(directory: Directory, user: str) -> bool:
    """Return whether a user has left LDAP, and has not got a role since."""
    entry = directory.get("user", user)
    return entry is not None and entry.document.get("ldap") == LEFT and not entry.document["roles"]


def leave_ldap(directory: Directory, names: Collection[str]) -> tuple[Decided, tuple[str, ...]]:
    """Return the events for people who have left LDAP, and the subjects on which the decision depends.

    They lose roles, tokens and password, and are removed from all groups and from the policies of pools.
    Raises Refused if no admin would be left.
    """
    token_ids = [token_id for name in names for token_id, _ in directory.tokens_of(name)]
    admins = require_admin_left(directory, without_users=names) if has_admin(directory, names) else ()
    left = [(f"user/{name}", directory_events.UserLeftLdap(reason=LEFT_LDAP)) for name in names]
    return [*remove_references(directory, "user", *names), *revoked(token_ids, LEFT_LDAP), *left], admins


def find_in_ldap(directory: Directory, names: Iterable[str]) -> Decided:
    """Return the events for users that LDAP has now. A user who comes back is a submitter again.

    A user does not come back while queues or placement rules of a partition name this user: they have rights
    of former times. A user without roles whom LDAP never had keeps none: an admin has blocked the user.
    """
    decided: Decided = []
    named = named_people(directory, "user")
    for name in names:
        entry = directory.get("user", name)
        if entry is None or is_managed(directory, name):
            continue
        if has_left(directory, name):
            if name in named:
                continue
            back = directory_events.UserChanged(roles=[SUBMITTER], email=entry.document["email"])
            decided.append((f"user/{name}", back))
        decided.append((f"user/{name}", directory_events.UserFoundInLdap()))
    return decided


def register_people(directory: Directory, names: Collection[str]) -> Decided:
    """Return the events that register people, but no user whom an admin has removed."""
    decided: Decided = []
    for name in names:
        if directory.version(f"user/{name}"):
            continue
        decided.append((f"user/{name}", directory_events.UserRegistered(roles=[SUBMITTER])))
        decided.append((f"user/{name}", directory_events.UserFoundInLdap()))
    return decided


def set_members(directory: Directory, changes: Iterable[MembershipChange]) -> Decided:
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


def has_admin(directory: Directory, names: Iterable[str]) -> bool:
    return any(ADMIN in directory.roles_of(name) for name in names)
