"""Memberships of a user in groups that follow from external groups: those of an identity provider or LDAP."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
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

    `added` and `removed` are the changed groups; `missing` are the groups of the table that do not exist, of
    those that the user should be in. The decision depends on the subjects `used`.
    """

    decided: Decided
    added: tuple[str, ...]
    removed: tuple[str, ...]
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
    added: list[str] = []
    removed: list[str] = []
    for group, document in _present(directory, group_map):
        if (group in wanted) == (user in document["members"]):
            continue
        (added if group in wanted else removed).append(group)
        changed.append((f"group/{group}", _with(document, user, is_member=group in wanted)))
    missing = tuple(sorted(group for group in wanted if directory.get("group", group) is None))
    used = tuple(f"group/{group}" for group in groups_of(group_map))
    return Memberships(changed, tuple(added), tuple(removed), missing, (f"user/{user}", *used))


def groups_of(group_map: GroupMap) -> tuple[str, ...]:
    """Return the groups of a section of the table, sorted."""
    return tuple(sorted({group for groups in group_map.values() for group in groups}))


def missing_groups(directory: Directory, group_map: GroupMap) -> tuple[str, ...]:
    """Return the groups of a section that do not exist."""
    return tuple(group for group in groups_of(group_map) if directory.get("group", group) is None)


def _present(directory: Directory, group_map: GroupMap) -> Iterator[tuple[str, Document]]:
    for group in groups_of(group_map):
        if (entry := directory.get("group", group)) is not None:
            yield group, entry.document


def _with(document: Document, user: str, *, is_member: bool) -> GroupChanged:
    others = [name for name in document["members"] if name != user]
    return GroupChanged(owners=document["owners"], members=[*others, user] if is_member else others)
