"""Memberships of a user in groups that follow from external groups: those of an identity provider or LDAP."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from domain.directory.documents import Document
from domain.directory.events import GroupChanged
from domain.directory.state import Directory
from domain.events import Decided

GroupMap: TypeAlias = Mapping[str, Sequence[str]]
"""The groups for each external group: one section of the group table."""


@dataclass(frozen=True)
class Memberships:
    """The events that set the memberships of a user.

    `missing` are the groups of the table that do not exist, of those that the user should be in. The decision
    depends on the subjects `used`.
    """

    decided: Decided
    missing: tuple[str, ...]
    used: tuple[str, ...]


def memberships(
    directory: Directory, user: str, group_map: GroupMap, external_groups: Collection[str]
) -> Memberships:
    """Return the events after which the user is a member of exactly the groups of its external groups.

    Only groups in the table change, and only their members: owners stay. There is no event for a group that
    is right already.
    """
    # A dictionary, because a set has no order.
    wanted = dict.fromkeys(
        group for external, groups in group_map.items() if external in external_groups for group in groups
    )
    changed: Decided = []
    for group, document in _present(directory, group_map):
        if (group in wanted) == (user in document["members"]):
            continue
        added, removed = ([user], []) if group in wanted else ([], [user])
        changed.append((f"group/{group}", with_members(document, added, removed)))
    missing = tuple(sorted(group for group in wanted if directory.get("group", group) is None))
    used = tuple(f"group/{group}" for group in groups_of(group_map))
    return Memberships(changed, missing, (f"user/{user}", *used))


def groups_of(group_map: GroupMap) -> tuple[str, ...]:
    """Return the groups of a section of the table, sorted."""
    return tuple(sorted({group for groups in group_map.values() for group in groups}))


def with_members(document: Document, added: Iterable[str], removed: Collection[str]) -> GroupChanged:
    """Return the event that changes the members of a group; owners stay."""
    staying = (name for name in document["members"] if name not in removed)
    return GroupChanged(owners=document["owners"], members=[*staying, *added])


def missing_groups(directory: Directory, group_map: GroupMap) -> tuple[str, ...]:
    """Return the groups of a section that do not exist."""
    return tuple(group for group in groups_of(group_map) if directory.get("group", group) is None)


def _present(directory: Directory, group_map: GroupMap) -> Iterator[tuple[str, Document]]:
    for group in groups_of(group_map):
        if (entry := directory.get("group", group)) is not None:
            yield group, entry.document
